// Command ci serves the shop of this example. It is what the CI of the example starts
// before it runs outrider. People run it by hand to look at the shop.
package main

import (
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/outrider-run/outrider/docs/examples/ci/shop"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1) // layering:allow a program of its own
	}
}

func run() error {
	listen := flag.String("listen", "127.0.0.1:8080", "address to listen on")
	files := flag.String("app", "app", "folder of the pages and of items.json")
	testLink := flag.Bool("test-link", false, "offer /enter?user=NAME, which signs in without a password")
	flag.Parse()
	l, err := net.Listen("tcp", *listen)
	if err != nil {
		return err
	}
	server := &http.Server{Handler: shop.Handler(os.DirFS(*files), *testLink), ReadHeaderTimeout: 5 * time.Second}
	return server.Serve(l)
}
