package server

import (
	"net/url"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/outrider-run/outrider/primitives/fault"
)

// leaf makes the server a leaf node of a cluster. It has no JetStream of its own: the
// cluster's is used through it, so there is one queue.
func leaf(options *server.Options, urls []string) error {
	if len(urls) == 0 {
		return nil
	}
	remote := &server.RemoteLeafOpts{}
	for _, text := range urls {
		u, err := url.Parse(text)
		if err != nil || u.Host == "" {
			return fault.New(
				fault.InvalidInput, "the leaf address is %q: expected one such as nats-leaf://cluster:7422", text,
			)
		}
		remote.URLs = append(remote.URLs, u)
	}
	options.JetStream, options.StoreDir = false, ""
	options.LeafNode.Remotes = []*server.RemoteLeafOpts{remote}
	return nil
}
