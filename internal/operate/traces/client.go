package traces

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cenkalti/backoff/v5"
	otlp "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

const (
	usualEndpoint  = "https://localhost:4318"
	usualTimeout   = 10 * time.Second
	longestRetry   = time.Minute
	longestMessage = 4 << 10 // of an answer that refuses
)

// client sends spans by OTLP over HTTP. It implements otlptrace.Client. The client of OpenTelemetry
// for HTTP links gRPC, of which nothing is used here, and is a twentieth of the binary.
type client struct {
	endpoint string
	headers  http.Header
	gzip     bool
	timeout  time.Duration
	http     *http.Client
}

// newClient is a client as the standard variables of OTLP say.
func newClient() (*client, error) {
	endpoint, err := endpointOf()
	if err != nil {
		return nil, err
	}
	headers, err := headersOf(variable("HEADERS"))
	if err != nil {
		return nil, err
	}
	timeout := usualTimeout
	if said := variable("TIMEOUT"); said != "" {
		milliseconds, err := strconv.Atoi(said)
		if err != nil {
			return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_TIMEOUT is %q: expected milliseconds", said)
		}
		timeout = time.Duration(milliseconds) * time.Millisecond
	}
	certificates, err := certificatesOf()
	if err != nil {
		return nil, err
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.TLSClientConfig = certificates
	return &client{
		endpoint: endpoint,
		headers:  headers,
		gzip:     variable("COMPRESSION") == "gzip",
		timeout:  timeout,
		http:     &http.Client{Transport: transport},
	}, nil
}

// variable is one of OTLP. The one of traces comes before the one of all signals.
func variable(name string) string {
	return cmp.Or(os.Getenv("OTEL_EXPORTER_OTLP_TRACES_"+name), os.Getenv("OTEL_EXPORTER_OTLP_"+name))
}

// endpointOf is where traces go: the endpoint of traces as it stands, or a path below the one of all signals.
func endpointOf() (string, error) {
	said := os.Getenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
	ofTraces := said != ""
	if !ofTraces {
		said = cmp.Or(os.Getenv("OTEL_EXPORTER_OTLP_ENDPOINT"), usualEndpoint)
	}
	u, err := url.Parse(said)
	if err != nil || !slices.Contains([]string{"http", "https"}, u.Scheme) || u.Host == "" {
		return "", errors.New("the endpoint of OTLP is no address of http or https")
	}
	if strings.EqualFold(variable("INSECURE"), "true") {
		u.Scheme = "http"
	}
	if !ofTraces {
		u = u.JoinPath("v1/traces")
	}
	return u.String(), nil
}

// headersOf reads names and values as a W3C baggage writes them. Values are secret, so no error has one.
func headersOf(said string) (http.Header, error) {
	headers := http.Header{}
	for pair := range strings.SplitSeq(said, ",") {
		if strings.TrimSpace(pair) == "" {
			continue
		}
		name, value, _ := strings.Cut(pair, "=")
		name = strings.TrimSpace(name)
		value, err := url.PathUnescape(strings.TrimSpace(value))
		if name == "" || err != nil {
			return nil, errors.New("OTEL_EXPORTER_OTLP_HEADERS: expected name=value, with commas between")
		}
		headers.Set(name, value)
	}
	return headers, nil
}

func certificatesOf() (*tls.Config, error) {
	config := &tls.Config{}
	if file := variable("CERTIFICATE"); file != "" {
		pem, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("%s has no certificate", file)
		}
	}
	certificate := variable("CLIENT_CERTIFICATE")
	key := variable("CLIENT_KEY")
	if certificate == "" || key == "" {
		return config, nil
	}
	own, err := tls.LoadX509KeyPair(certificate, key)
	config.Certificates = []tls.Certificate{own}
	return config, err
}

// Start implements otlptrace.Client.
func (c *client) Start(context.Context) error { return nil }

// Stop implements otlptrace.Client.
func (c *client) Stop(context.Context) error {
	c.http.CloseIdleConnections()
	return nil
}

// UploadTraces implements otlptrace.Client. It tries again while the other side says that it is too busy.
func (c *client) UploadTraces(ctx context.Context, spans []*otlp.ResourceSpans) error {
	body, err := proto.Marshal(&otlp.TracesData{ResourceSpans: spans})
	if err != nil {
		return err
	}
	if c.gzip {
		var packed bytes.Buffer
		w := gzip.NewWriter(&packed)
		if _, err := w.Write(body); err != nil {
			return err
		}
		if err := w.Close(); err != nil {
			return err
		}
		body = packed.Bytes()
	}
	_, err = backoff.Retry(ctx, func() (struct{}, error) {
		return struct{}{}, c.send(ctx, body)
	}, backoff.WithMaxElapsedTime(longestRetry))
	return err
}

func (c *client) send(ctx context.Context, body []byte) error {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.endpoint, bytes.NewReader(body))
	if err != nil {
		return backoff.Permanent(err)
	}
	request.Header = c.headers.Clone()
	request.Header.Set("Content-Type", "application/x-protobuf")
	if c.gzip {
		request.Header.Set("Content-Encoding", "gzip")
	}
	answer, err := c.http.Do(request)
	if err != nil {
		return backoff.Permanent(err)
	}
	defer answer.Body.Close()
	why, err := io.ReadAll(io.LimitReader(answer.Body, longestMessage))
	if err != nil {
		return backoff.Permanent(err)
	}
	refused := fmt.Errorf("the collector answers %s: %s", answer.Status, why)
	switch answer.StatusCode {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		if seconds, err := strconv.Atoi(answer.Header.Get("Retry-After")); err == nil {
			return backoff.RetryAfter(seconds)
		}
		return refused
	}
	if answer.StatusCode/100 != 2 {
		return backoff.Permanent(refused)
	}
	return nil
}
