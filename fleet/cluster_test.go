//go:build unix

package fleet_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/outrider-run/outrider/fleet"
	"github.com/outrider-run/outrider/fleet/submit"
	"github.com/outrider-run/outrider/fleet/worker"
	"github.com/outrider-run/outrider/internal/testing/browsertest"
	"github.com/outrider-run/outrider/internal/testing/fleettest"
)

// beMember is one server of a cluster.
func beMember() {
	at := func(name string) (string, int) {
		host, port, err := net.SplitHostPort(os.Getenv(name))
		number, err2 := strconv.Atoi(port)
		if err != nil || err2 != nil {
			fmt.Println("failed", err, err2)
			os.Exit(1)
		}
		return host, number
	}
	o := &server.Options{
		ServerName: os.Getenv("FLEET_TEST_NAME"),
		JetStream:  true,
		StoreDir:   os.Getenv("FLEET_TEST_DATA"),
		NoSigs:     true,
		NoLog:      true,
	}
	o.Host, o.Port = at("FLEET_TEST_LISTEN")
	o.Cluster.Name = "test"
	o.Cluster.Host, o.Cluster.Port = at("FLEET_TEST_CLUSTER")
	o.Routes = server.RoutesFromStr(os.Getenv("FLEET_TEST_ROUTES"))
	s, err := server.NewServer(o)
	if err != nil {
		fmt.Println("failed", err)
		os.Exit(1)
	}
	s.Start()
	fmt.Println("ready")
	select {}
}

// TestAClusterLosesAServer: everything is kept three times, so jobs go on, each with one
// result, when one of three servers is lost for good.
func TestAClusterLosesAServer(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var clients, routes, cluster []string
	for range 3 {
		clients, cluster = append(clients, browsertest.Address(t)), append(cluster, browsertest.Address(t))
		routes = append(routes, "nats://"+cluster[len(cluster)-1])
	}
	var members []*fleettest.Process
	for i := range 3 {
		members = append(members, spawn(t, "FLEET_TEST_IS=member", "FLEET_TEST_NAME=s"+
			strconv.Itoa(i), "FLEET_TEST_LISTEN="+clients[i], "FLEET_TEST_CLUSTER="+cluster[i],
			"FLEET_TEST_ROUTES="+strings.Join(routes, ","), "FLEET_TEST_DATA="+filepath.Join(dir, strconv.Itoa(i))))
	}
	url := "nats://" + strings.Join(clients, ",nats://")
	// Nobody waits until the cluster has chosen its leaders: whoever opens it does.
	q := fleettest.Open(t, url, chaosLease)
	info, err := q.Jobs.Info(t.Context())
	if err != nil || info.Config.Replicas != 3 {
		t.Fatalf("the queue is kept %d times, %v", info.Config.Replicas, err)
	}
	site := &fleettest.Site{}
	for range 2 {
		fleettest.Start(t, fleettest.Open(t, url, chaosLease), site, worker.Options{Slots: 2})
	}
	var jobs []fleet.Job
	for i := range 60 {
		jobs = append(jobs, fleettest.Job("cluster", fmt.Sprintf("%03d", i), fleettest.Task{
			Steps: 3,
			Acts:  true,
			Takes: 10 * time.Millisecond,
		}))
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := submit.Send(ctx, q, jobs); err != nil {
		t.Fatal(err)
	}
	got, lost := map[string]fleet.Record{}, false
	if err := submit.Follow(ctx, q, jobs, submit.Handlers{Done: func(r fleet.Record) {
		if _, twice := got[r.ID]; twice {
			t.Errorf("job %s ended twice", r.ID)
		}
		got[r.ID] = r
		if len(got) >= 20 && !lost {
			lost = true
			// The one that leads the queue: others have to choose another.
			leader := info.Cluster.Leader
			for i, m := range members {
				if leader == "s"+strconv.Itoa(i) {
					m.Kill()
				}
			}
		}
	}}); err != nil {
		t.Fatalf("%d of %d jobs ended: %v", len(got), len(jobs), err)
	}
	for _, j := range jobs {
		if r := got[j.ID]; !r.Outcome.OK || site.Acts(j.Key()) != 1 {
			t.Errorf("job %s: ok %v, acted %d times, %v", j.ID, r.Outcome.OK, site.Acts(j.Key()), r.Outcome.Error)
		}
	}
}
