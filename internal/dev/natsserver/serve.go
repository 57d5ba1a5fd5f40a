package natsserver

import (
	"fmt"
	"io"
	"os"
	"strconv"

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

// Serve runs a server until standard input ends: it does not outlive the test that started it.
func Serve(dir, port string) error {
	at, err := strconv.Atoi(port)
	if err != nil {
		return err
	}
	run, err := natsd.NewServer(Options(dir, at))
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
