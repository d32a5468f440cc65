package cdp

import "context"

// BrowserContext is a browser context as commands about it name it. Chromium knows
// the context of the profile only by the absence of a name: ID is empty then.
type BrowserContext struct {
	Client *Client
	ID     string
}

// Do sends one command about the browser context and decodes its answer into out,
// which may be nil.
func (c BrowserContext) Do(ctx context.Context, method string, params map[string]any, out any) error {
	if params == nil {
		params = map[string]any{}
	}
	if c.ID != "" {
		params["browserContextId"] = c.ID
	}
	return c.Client.Do(ctx, "", method, params, out)
}
