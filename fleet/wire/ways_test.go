package wire_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nkeys"

	fleetserver "github.com/outrider-run/outrider/fleet/server"
	"github.com/outrider-run/outrider/fleet/wire"
	"github.com/outrider-run/outrider/primitives/fault"
)

// serve starts a NATS server as somebody else would have configured one.
func serve(t *testing.T, change func(*server.Options)) *server.Server {
	t.Helper()
	o := &server.Options{
		Host:      "127.0.0.1",
		Port:      server.RANDOM_PORT,
		JetStream: true,
		StoreDir:  t.TempDir(),
		NoSigs:    true,
		NoLog:     true,
	}
	change(o)
	s, err := server.NewServer(o)
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	if !s.ReadyForConnections(30 * time.Second) {
		t.Fatal("the server does not listen")
	}
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	return s
}

// certificate makes a certificate for 127.0.0.1 that signs itself.
func certificate(t *testing.T) (pair tls.Certificate, ca string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	about := &x509.Certificate{
		SerialNumber:          big.NewInt(1),
		Subject:               pkix.Name{CommonName: "fleet"},
		NotBefore:             time.Now().Add(-time.Hour),
		NotAfter:              time.Now().Add(time.Hour),
		IPAddresses:           []net.IP{net.IPv4(127, 0, 0, 1)},
		IsCA:                  true,
		BasicConstraintsValid: true,
		KeyUsage:              x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, about, about, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{
		Certificate: [][]byte{der},
		PrivateKey:  key,
	}, file(t, "ca.pem", pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
}

func file(t *testing.T, name string, text []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func seed(t *testing.T, pair nkeys.KeyPair) []byte {
	t.Helper()
	text, err := pair.Seed()
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func public(t *testing.T, pair nkeys.KeyPair, err error) string {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	text, err := pair.PublicKey()
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestWaysIn: each kind of address and of credentials reaches a fleet and what it keeps,
// and without them it is refused.
func TestWaysIn(t *testing.T) {
	t.Parallel()
	pair, ca := certificate(t)
	config := &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}
	user, err := nkeys.CreateUser()
	userKey := public(t, user, err)
	nkeyFile := file(t, "user.nk", seed(t, user))

	operator, err := nkeys.CreateOperator()
	operatorKey := public(t, operator, err)
	account, err := nkeys.CreateAccount()
	claims := jwt.NewAccountClaims(public(t, account, err))
	claims.Limits.JetStreamLimits = jwt.JetStreamLimits{MemoryStorage: -1, DiskStorage: -1, Streams: -1, Consumer: -1}
	accountToken, err := claims.Encode(operator)
	if err != nil {
		t.Fatal(err)
	}
	system, err := nkeys.CreateAccount()
	systemClaims := jwt.NewAccountClaims(public(t, system, err))
	systemToken, err := systemClaims.Encode(operator)
	if err != nil {
		t.Fatal(err)
	}
	member, err := nkeys.CreateUser()
	memberClaims := jwt.NewUserClaims(public(t, member, err))
	memberToken, err := memberClaims.Encode(account)
	if err != nil {
		t.Fatal(err)
	}
	creds, err := jwt.FormatUserConfig(memberToken, seed(t, member))
	if err != nil {
		t.Fatal(err)
	}
	credsFile := file(t, "user.creds", creds)

	for name, c := range map[string]struct {
		change  func(*server.Options)
		url     func(*server.Server) string
		options wire.Options // what lets one in
		code    fault.Code   // without them; "" when nothing is needed
	}{
		"tls": {
			func(o *server.Options) { o.TLS, o.TLSConfig = true, config },
			func(s *server.Server) string { return "tls://" + s.Addr().String() },
			wire.Options{CA: ca}, fault.TransportFailed,
		},
		"websocket": {
			func(o *server.Options) {
				o.Websocket.Host = "127.0.0.1"
				o.Websocket.Port = server.RANDOM_PORT
				o.Websocket.NoTLS = true
			},
			func(s *server.Server) string { return s.WebsocketURL() }, wire.Options{}, "",
		},
		"websocket over tls": {
			func(o *server.Options) {
				o.Websocket.Host = "127.0.0.1"
				o.Websocket.Port = server.RANDOM_PORT
				o.Websocket.TLSConfig = config
			},
			func(s *server.Server) string { return s.WebsocketURL() }, wire.Options{CA: ca}, fault.TransportFailed,
		},
		"nkey": {
			func(o *server.Options) { o.Nkeys = []*server.NkeyUser{{Nkey: userKey}} },
			(*server.Server).ClientURL, wire.Options{NKey: nkeyFile}, fault.PermissionDenied,
		},
		"credentials": {
			func(o *server.Options) {
				resolver := &server.MemAccResolver{}
				if err := errors.Join(
					resolver.Store(claims.Subject, accountToken), resolver.Store(systemClaims.Subject, systemToken),
				); err != nil {
					t.Error(err)
				}
				o.TrustedKeys = []string{operatorKey}
				o.AccountResolver = resolver
				o.SystemAccount = systemClaims.Subject
			},
			(*server.Server).ClientURL, wire.Options{Credentials: credsFile}, fault.PermissionDenied,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, c.change)
			o := c.options
			o.URL = c.url(s)
			reaches(t, o)
			if c.code == "" {
				return
			}
			if link, err := wire.Dial(t.Context(), wire.Options{URL: o.URL}); fault.CodeOf(err) != c.code {
				if err == nil {
					link.Close()
				}
				t.Errorf("without credentials: %v, want %s", err, c.code)
			}
		})
	}
}

// reaches connects and opens what a fleet keeps.
func reaches(t *testing.T, o wire.Options) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	link, err := wire.Dial(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	defer link.Close()
	store, err := wire.Open(ctx, link, wire.Keep{})
	if err == nil {
		_, err = store.Records.Put(ctx, "a.b", []byte("x"))
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestALeafIsAWayIn: a server of ours that is a leaf node of a cluster keeps nothing
// itself: what is behind it is the cluster's, by its domain.
func TestALeafIsAWayIn(t *testing.T) {
	t.Parallel()
	hub := serve(t, func(o *server.Options) {
		o.JetStreamDomain = "hub"
		o.LeafNode.Host, o.LeafNode.Port = "127.0.0.1", server.RANDOM_PORT
	})
	varz, err := hub.Varz(nil)
	if err != nil {
		t.Fatal(err)
	}
	at := url.URL{Scheme: "nats-leaf", Host: fmt.Sprintf("127.0.0.1:%d", varz.LeafNode.Port)}
	leaf, err := fleetserver.Start(t.Context(), fleetserver.Options{
		Listen: "127.0.0.1:0",
		Data:   t.TempDir(),
		Leaf:   []string{at.String()},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(leaf.Close)
	reaches(t, wire.Options{URL: leaf.URL(), Domain: "hub"})
	link, err := wire.Dial(t.Context(), wire.Options{URL: hub.ClientURL()})
	if err != nil {
		t.Fatal(err)
	}
	defer link.Close()
	store, err := wire.Open(t.Context(), link, wire.Keep{})
	if err != nil {
		t.Fatal(err)
	}
	if e, err := store.Records.Get(t.Context(), "a.b"); err != nil || string(e.Value()) != "x" {
		t.Errorf("what was written through the leaf: %v", err)
	}
	if _, err := fleetserver.Start(t.Context(), fleetserver.Options{
		Listen: "127.0.0.1:0",
		Data:   t.TempDir(),
		Leaf:   []string{"no address"},
	}); !errors.Is(err, fault.InvalidInput) || !strings.Contains(err.Error(), "nats-leaf://") {
		t.Errorf("a wrong address: %v", err)
	}
}
