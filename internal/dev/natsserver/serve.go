package natsserver

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	natsd "github.com/nats-io/nats-server/v2/server"

	"github.com/jobledger/jobledger/internal/dev/patience"
)

// Ready is what Serve prints when the server answers.
const Ready = "ready"

// Options are those of a server with a store in dir, at a port of loopback.
func Options(dir string, port int) *natsd.Options {
	return &natsd.Options{
		ServerName: "test", Host: "127.0.0.1", Port: port, NoSigs: true, NoLog: true,
		JetStream: true, StoreDir: dir, JetStreamMaxStore: 1 << 30, JetStreamMaxMemory: 64 << 20,
	}
}

// Cluster makes a server with these options one of several, which hold streams together and sync what they write. Peers
// are the ports of loopback at which the servers meet, its own first.
func Cluster(o *natsd.Options, peers []string) error {
	own, err := strconv.Atoi(peers[0])
	if err != nil {
		return err
	}
	routes := "nats://127.0.0.1:" + strings.Join(peers, ",nats://127.0.0.1:")
	o.ServerName, o.SyncAlways = "server-"+peers[0], true
	o.Cluster = natsd.ClusterOpts{Name: "test", Host: "127.0.0.1", Port: own}
	o.Routes = natsd.RoutesFromStr(routes)
	return nil
}

// Serve runs a server until standard input ends: it does not outlive the test that started it. With peers it is one of
// a cluster.
func Serve(dir, port string, peers ...string) error {
	at, err := strconv.Atoi(port)
	if err != nil {
		return err
	}
	o := Options(dir, at)
	if len(peers) > 0 {
		if err := Cluster(o, peers); err != nil {
			return err
		}
	}
	run, err := natsd.NewServer(o)
	if err != nil {
		return err
	}
	run.Start()
	if !run.ReadyForConnections(patience.Time()) {
		return fmt.Errorf("the NATS server does not start at port %d", at)
	}
	fmt.Println(Ready)
	_, err = io.Copy(io.Discard, os.Stdin)
	run.Shutdown()
	run.WaitForShutdown()
	return err
}
