package finding

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
)

// The times of a Publisher. It writes a new CA after at most caEach. If someone else changed its keys in the ConfigMap,
// it writes them again after at most publishEach.
const (
	caEach        = 5 * time.Second
	publishEach   = time.Minute
	publishWithin = 10 * time.Second
)

// Publisher keeps the reader's keys in its ConfigMap up to date. It needs the rights to get and patch that ConfigMap,
// which must exist. All fields except Base are required.
type Publisher struct {
	Client          kubernetes.Interface
	Namespace, Name string // of the ConfigMap
	Pod             string // pod in which this process runs
	Port            int    // port on which it answers
	Base            string // path prefix of its answers; empty for the root
	// Authority returns the CA of this process's certificate, in PEM.
	Authority func() ([]byte, error)
	Started   time.Time
	Logger    *slog.Logger
}

// Run publishes until ctx ends, and then returns nil. If the ConfigMap cannot be written, it logs why and tries again.
func (p *Publisher) Run(ctx context.Context) error {
	tick := time.NewTicker(caEach)
	defer tick.Stop()
	var last published
	for {
		last = p.keep(ctx, last)
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil
		}
	}
}

// published is the result of a Publisher's last try.
type published struct {
	ca     string
	at     time.Time // when it succeeded; zero if it failed
	failed string    // the error that was logged
}

// keep publishes if the CA changed, the last try failed, or a minute has passed since. It returns the new result.
func (p *Publisher) keep(ctx context.Context, last published) published {
	now := published{at: time.Now()}
	ca, err := p.Authority()
	if now.ca = string(ca); err == nil {
		if now.ca == last.ca && now.at.Sub(last.at) < publishEach {
			return last
		}
		err = p.publish(ctx, now.ca)
	}
	if err == nil || ctx.Err() != nil {
		return now
	}
	now.at, now.failed = time.Time{}, err.Error()
	if now.failed != last.failed {
		p.Logger.Warn("users do not find this reader: how it is reached cannot be published",
			"configmap", p.Namespace+"/"+p.Name, "error", err)
	}
	return now
}

// publish writes the reader's keys into the ConfigMap. It leaves them if they are the same already, or if a reader that
// started later wrote them.
func (p *Publisher) publish(ctx context.Context, ca string) error {
	ctx, cancel := context.WithTimeout(ctx, publishWithin)
	defer cancel()
	maps := p.Client.CoreV1().ConfigMaps(p.Namespace)
	found, err := maps.Get(ctx, p.Name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	there, _ := parse(found.Data) // keys that cannot be parsed are overwritten
	if there.Since.After(p.Started) {
		return nil
	}
	own := Entry{CA: ca, Pod: p.Pod, Port: p.Port, Base: p.Base, Since: p.Started}
	data, same := own.published(), true
	for key, text := range data {
		same = same && found.Data[key] == text
	}
	if same {
		return nil
	}
	patch, err := json.Marshal(map[string]any{"data": data})
	if err != nil {
		return fmt.Errorf("make a patch: %w", err)
	}
	if _, err := maps.Patch(ctx, p.Name, types.MergePatchType, patch, metav1.PatchOptions{FieldManager: "jobledger-reader"}); err != nil {
		return err
	}
	p.Logger.Info("published how this reader is reached", "configmap", p.Namespace+"/"+p.Name, "pod", p.Pod)
	return nil
}
