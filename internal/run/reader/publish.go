package reader

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"time"

	"github.com/jobledger/jobledger/internal/run/finding"
)

// Publish names the ConfigMap in which this reader says how users reach it (see package finding).
type Publish struct {
	Namespace, Name string // namespace and name of the ConfigMap, which must exist
	Pod             string // pod in which the reader runs
}

// publish keeps the ConfigMap that says how users reach this reader up to date, until ctx ends.
func (r *Reader) publish(ctx context.Context) error {
	in := r.config.Publish
	if in == nil {
		return nil
	}
	at, err := url.Parse(r.server.URL())
	if err != nil {
		return fmt.Errorf("publish how the reader is reached: %w", err)
	}
	_, text, _ := net.SplitHostPort(at.Host) // the port on which the server listens
	port, err := strconv.Atoi(text)
	if err != nil {
		return fmt.Errorf("publish how the reader is reached: %w", err)
	}
	p := &finding.Publisher{
		Client: r.config.Client, Namespace: in.Namespace, Name: in.Name, Pod: in.Pod, Port: port, Base: r.config.Base,
		Authority: r.Authority, Started: time.Now(), Logger: r.config.Logger,
	}
	return p.Run(ctx)
}
