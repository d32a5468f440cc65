package primitives

import (
	"context"
	"time"
)

// FilePage exchanges files with a page, only with the folders that whoever
// started the host has declared for it.
type FilePage interface {
	// UploadFiles checks that files may be uploaded and says what they are.
	// Names are looked up in the declared folders. It fails with
	// permission_denied for what lies elsewhere or behind a symbolic link, and
	// with capability_unavailable when no folder is declared.
	UploadFiles(paths []string) ([]UploadFile, error)

	// SetFiles makes files the choice of the file input that the page library
	// knows by handle; the page gets its input and change events.
	SetFiles(ctx context.Context, frame FrameID, handle string, files []UploadFile) error

	// ChooseFiles clicks, waits until the page opens a file chooser, and answers with
	// these. A page that takes one file gets no more: the error is
	// invalid_arguments then, and target_not_actionable when no file chooser opens.
	ChooseFiles(ctx context.Context, click func() error, files []UploadFile) error

	// DragFiles drags files to a point of the tab and drops them there, as from a window of another program. taken is
	// asked after the first movements; its error ends the drag without a drop.
	DragFiles(ctx context.Context, at Point, files []UploadFile, taken func() error) error

	// Downloads lists the downloads of all tabs, oldest first. Without a declared folder
	// it lists those that were refused; with none of these it fails with
	// capability_unavailable.
	Downloads() ([]Download, error)

	// AwaitDownload waits until a download has ended and returns it: the one
	// with this id, or without one the first that no such call has returned.
	AwaitDownload(ctx context.Context, id string) (Download, error)

	// PDF prints the page.
	PDF(ctx context.Context, opts PDFOptions) ([]byte, error)

	// SaveFile writes data to a new file in the download folder under a name
	// made of this one, and returns its path.
	SaveFile(name string, data []byte) (string, error)
}

// UploadFile is a file that may be uploaded.
type UploadFile struct {
	Name string // base name
	Path string // absolute
	Size int64
}

// Download is a file that a page sent.
type Download struct {
	ID       string
	URL      string
	TabID    int // 0 when the tab is not known
	Filename string
	// Path is where the file is; "" until it is complete.
	Path     string
	State    string // one of the states below
	Received int64
	Total    int64 // 0 when unknown
	SHA256   string
	Started  time.Time
	Ended    time.Time // zero until it has ended
}

// States of a download.
const (
	DownloadInProgress = "in_progress"
	DownloadCompleted  = "completed"
	DownloadCancelled  = "cancelled"
	DownloadTooLarge   = "too_large"
	DownloadFailed     = "failed"
	DownloadRefused    = "refused" // no folder is declared for downloads
)

// PDFOptions say how to print. Sizes are inches; 0 is the browser's default.
type PDFOptions struct {
	Landscape, Background, PreferCSSPageSize bool
	Scale, Width, Height                     float64
	Margins                                  *PDFMargins
	Ranges                                   string // "1-3,5"; "" is all
	Header, Footer                           string // HTML templates; "" is none
	Outline                                  bool
}

// PDFMargins are in inches.
type PDFMargins struct {
	Top    float64 `json:"top"`
	Right  float64 `json:"right"`
	Bottom float64 `json:"bottom"`
	Left   float64 `json:"left"`
}
