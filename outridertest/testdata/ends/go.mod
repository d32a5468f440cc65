module example.org/ends

go 1.26.0

require github.com/outrider-run/outrider v0.0.0

require (
	github.com/andybalholm/cascadia v1.3.3 // indirect
	github.com/blues/jsonata-go v1.5.4 // indirect
	github.com/cenkalti/backoff/v5 v5.0.3 // indirect
	github.com/fsnotify/fsnotify v1.10.1 // indirect
	github.com/go-rod/rod v0.116.2 // indirect
	github.com/gofrs/flock v0.13.1 // indirect
	github.com/google/uuid v1.6.0 // indirect
	github.com/santhosh-tekuri/jsonschema/v6 v6.0.3 // indirect
	github.com/ysmood/gson v0.7.3 // indirect
	golang.org/x/image v0.47.0 // indirect
	golang.org/x/net v0.60.0 // indirect
	golang.org/x/sys v0.49.0 // indirect
	golang.org/x/text v0.43.0 // indirect
)

replace github.com/outrider-run/outrider => ../../..
