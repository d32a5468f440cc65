package primitives

import "context"

// StoredPage reads and writes the cookies and the storage of a page's browser
// context, which other tabs may share.
type StoredPage interface {
	// Cookies returns the cookies that requests to the addresses would carry,
	// all cookies of the browser context without addresses.
	Cookies(ctx context.Context, urls []string) ([]Cookie, error)

	// SetCookies stores all of them or fails with invalid_arguments.
	SetCookies(ctx context.Context, cookies []Cookie) error

	// DeleteCookies deletes the given cookies, by name, domain, path and
	// partition.
	DeleteCookies(ctx context.Context, cookies []Cookie) error

	// LocalStorage reads what each origin keeps: the given ones, or without any
	// those that the tabs of this browser context show. An origin that no tab
	// shows is read in a tab of its own, without a request to it.
	LocalStorage(ctx context.Context, origins []string) ([]OriginStorage, error)

	// SetLocalStorage stores items, and first empties the origins that are named
	// when replace is set.
	SetLocalStorage(ctx context.Context, origins []OriginStorage, replace bool) error

	// CallAtOrigin is Call in a document of an origin: one that a tab of the browser
	// context shows, or an empty one that is opened for it, without a request.
	CallAtOrigin(ctx context.Context, origin, fn string, args, out any) error

	// CallInEmpty is Call in an empty document of each origin, which the tab itself
	// shows one after the other, without a request. The tab shows about:blank
	// afterwards.
	CallInEmpty(ctx context.Context, origins []string, fn string, args func(origin string) any) error
}

// Cookie is one cookie.
type Cookie struct {
	Name, Value  string
	Domain, Path string
	// URL stands for domain, path and secure when a cookie is set.
	URL      string
	Expires  float64 // seconds since 1970; -1 for the end of the session
	HTTPOnly bool
	Secure   bool
	SameSite string // "Strict", "Lax", "None"; "" when the site did not say
	// Partition is the top-level site that a partitioned cookie belongs to.
	Partition *CookiePartition
}

// CookiePartition is the key of a partitioned cookie.
type CookiePartition struct {
	TopLevelSite string `json:"topLevelSite"`
	// CrossSite: the frame that set it has an ancestor of another site.
	CrossSite bool `json:"hasCrossSiteAncestor"`
}

// OriginStorage is the localStorage of one origin, in order of names.
type OriginStorage struct {
	Origin string
	Items  []StorageItem
}

// StorageItem is one entry of a storage area.
type StorageItem struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}
