package sitetool

// Schema is the input schema of actions.site.
const Schema = `{"type":"object","required":["mode"],"properties":{` +
	`"mode":{"type":"string","enum":["list","call","check","signals","attachments","state_read","state_summary",` +
	`"state_diff","state_watch","learn","record"]},` +
	`"action":{"type":"string","description":"Name of an action, or of a transition, for mode call."},` +
	`"action_name":{"type":"string"},"name":{"type":"string"},` +
	`"task":{"type":"string","description":"What the caller is about, in its own words: chooses among the context ` +
	`blocks of mode list."},` +
	`"only":{"enum":["states"],"description":"In mode list: this part alone, for the least work of the page."},` +
	`"arguments":{"type":"object"},` +
	`"wait_ms":{"type":"integer","minimum":0,"maximum":60000,"description":"How long mode check looks again while it ` +
	`is not ok. Default 0."},` +
	`"expect_status":{"type":"integer","minimum":100,"maximum":599,"description":"HTTP status that the page's ` +
	`document must have in mode check. Default: any below 400."},` +
	`"requires":{"type":"array","items":{"type":"string"},"description":"States that must be current in mode ` +
	`check."},` +
	`"strict_checks":{"type":"boolean","description":"In mode check a critical check that is skipped, or says ` +
	`nothing, is a failure."},` +
	`"fail_on_drift":{"type":"boolean","description":"In mode check a check that drifted is a failure: it passed by ` +
	`a fallback, or an element has another role or name than its target declares."},` +
	`"remember":{"type":"boolean","description":"In mode check: say what the elements look like that checks found."},` +
	`"lock":{"type":"object","additionalProperties":{"type":"object"},"description":"What elements looked like, by ` +
	`map path (actions.lock.json): mode check proposes repairs of targets that find nothing."},` +
	`"projection_name":{"type":"string"},"projection":{"type":"string"},` +
	`"summary_name":{"type":["string","null"]},"max_bytes":{"type":["integer","null"],"minimum":1},` +
	`"rows":{"type":"string","description":"JSON pointer of a list in the state: mode state_read gives its items in ` +
	`pages of at most max_bytes, in place of the state."},` +
	`"offset":{"type":"integer","minimum":0,"maximum":2147483647,"description":"First item of the page."},` +
	`"limit":{"type":"integer","minimum":1,"maximum":2147483647,"description":"Most items of the page."},` +
	`"state_hash":{"type":"string","description":"That of the first page: the page is of the same state, or the call ` +
	`fails."},` +
	`"limits":{"type":"object","properties":{"nodes":{"type":"integer","minimum":1,"maximum":2147483647},` +
	`"bytes":{"type":"integer","minimum":1,"maximum":2147483647},"time_ms":{"type":"integer","minimum":1,` +
	`"maximum":60000}},"additionalProperties":false,"description":"Limits of reading the page for a state, where ` +
	`the default ones do not do."},` +
	`"baseline":{"type":["object","array","null"],"description":"State to compare with in mode state_diff, in place ` +
	`of the last one read."},` +
	`"enabled":{"type":"boolean","description":"False ends a state_watch. With a name, in mode signals: whether this ` +
	`tab forwards that signal; in mode attachments: whether it shows that attachment."},` +
	`"debounce_ms":{"type":"integer","minimum":20,"maximum":60000,"description":"How long the page must be quiet ` +
	`before a state_watch reads it. Default 250."},` +
	`"calls":{"type":"integer","minimum":1,"description":"In mode learn: so many last calls of the tab. Default: all ` +
	`that are remembered."},` +
	`"start":{"type":"string","description":"In mode learn: address that the action starts from. Default: where the ` +
	`calls began."},` +
	`"save":{"type":"boolean","description":"In mode learn: write the action to the storage folder."},` +
	`"target_url_contains":{"type":"string"},"target_runtime_id":{"type":"string"},` +
	`"timeout_ms":{"type":"integer","minimum":1}},"additionalProperties":false}`

// Description describes actions.site to agents.
const Description = "List the actions that the current page's site map declares, call one of them, check whether the " +
	"page still is as its map says (with the setup that its checks declare), read the page's declared state, or be " +
	"told when it changes or when the page says something that its map declares. Mode learn makes an action of the " +
	"last calls and tries it in a fresh session; record saves them to replay."
