// page says which document this is.

questions.page_info = () => ({ url: location.href, title: documentTitleOf(document) });
