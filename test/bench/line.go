package bench

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"

	"k8s.io/client-go/rest"

	"github.com/jobledger/jobledger/test/internal/child"
)

// line is the process that simulates the network between the compared controllers and the API server. The zero value is
// no network.
type line struct {
	pid   int
	ended <-chan error
	host  string // address under which the controllers reach the API server
}

// startLine starts the process that simulates the network of the setting. host is the address of the API server.
func (b *bench) startLine(host string) (err error) {
	network := b.config.Setting.Network
	if network == loopback {
		return nil
	}
	if b.config.Self == "" {
		return errors.New("a network needs a program that can be one: use cmd/bench")
	}
	to := strings.TrimPrefix(host, "https://")
	cmd := exec.Command(b.config.Self, append([]string{LinkCommand}, networks[network].Args(to)...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return fmt.Errorf("start the network: %w", err)
	}
	first := bufio.NewReader(out)
	if b.line.ended, err = child.Start(cmd); err != nil {
		return fmt.Errorf("start the network: %w", err)
	}
	b.line.pid = cmd.Process.Pid
	at, err := first.ReadString('\n')
	if err != nil {
		return fmt.Errorf("read where the network listens: %w", err)
	}
	b.line.host = "https://" + strings.TrimSpace(at)
	return nil
}

// through returns a copy of config with which a controller reaches the API server through the simulated network.
func (l *line) through(config *rest.Config) *rest.Config {
	if l.host != "" {
		config = rest.CopyConfig(config)
		config.Host = l.host
	}
	return config
}

func (l *line) stop() error {
	if l.pid == 0 {
		return nil
	}
	if err := child.Signal(l.pid, syscall.SIGKILL); err != nil {
		return fmt.Errorf("stop the network: %w", err)
	}
	<-l.ended //nolint:errcheck // it was killed, so the error is no news
	return nil
}
