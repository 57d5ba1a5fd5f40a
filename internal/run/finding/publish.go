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

// The times of a Publisher. It publishes a new CA at most caEach (5 seconds) after the CA changed. If someone else
// changed its keys in the ConfigMap, it writes them again within publishEach (a minute).
const (
	caEach        = 5 * time.Second
	publishEach   = time.Minute
	publishWithin = 10 * time.Second
)

// Publisher writes into a ConfigMap how the reader is reached, and keeps this up to date. It needs the rights to get
// and patch the ConfigMap, which must exist. All fields except Base are required.
type Publisher struct {
	Client          kubernetes.Interface
	Namespace, Name string // namespace and name of the ConfigMap
	Pod             string // pod in which this process, the reader, runs
	Port            int    // port on which the reader answers
	Base            string // path prefix of the reader's answers; empty for the root
	// Authority returns the CA of this process's certificate, in PEM.
	Authority func() ([]byte, error)
	Started   time.Time
	Logger    *slog.Logger
}

// Run keeps the ConfigMap up to date until ctx ends, and then returns nil. If the ConfigMap cannot be written, it logs
// why and tries again.
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
	at     time.Time // when the ConfigMap was written; zero if that failed
	failed string    // the error that was logged
}

// keep writes the ConfigMap if the CA has changed, the last try failed, or a minute has passed since then. last is the
// result of the last try; keep returns the new one.
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

// publish writes into the ConfigMap how this reader is reached. It changes nothing if the ConfigMap says the same
// already, or if a reader that started later has written it.
func (p *Publisher) publish(ctx context.Context, ca string) error {
	ctx, cancel := context.WithTimeout(ctx, publishWithin)
	defer cancel()
	maps := p.Client.CoreV1().ConfigMaps(p.Namespace)
	found, err := maps.Get(ctx, p.Name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	there, _ := parse(found.Data) // after an error, the keys are overwritten
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
