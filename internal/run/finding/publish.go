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

// The times of a Publisher. A new CA is written within caEach; what somebody else changed, within publishEach.
const (
	caEach        = 5 * time.Second
	publishEach   = time.Minute
	publishWithin = 10 * time.Second
)

// Publisher keeps a reader's part of its ConfigMap. It needs the rights to get and patch that ConfigMap, which must
// exist. All fields but Base are required.
type Publisher struct {
	Client          kubernetes.Interface
	Namespace, Name string // of the ConfigMap
	Pod             string // in which this process runs
	Port            int    // on which it answers
	Base            string // path below which it answers; empty for the root
	// Authority returns the CA that signed its certificate, in PEM.
	Authority func() ([]byte, error)
	Started   time.Time
	Logger    *slog.Logger
}

// Run publishes until ctx ends, and then returns nil. While the ConfigMap cannot be written it logs why, and tries
// again.
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

// published is what a Publisher wrote or found last.
type published struct {
	ca     string
	at     time.Time // zero if it failed
	failed string    // why, as it was logged
}

// keep publishes if the CA changed, the last time failed, or publishEach is over.
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

// publish writes the reader's part of the ConfigMap, if it differs and no later reader has written it.
func (p *Publisher) publish(ctx context.Context, ca string) error {
	ctx, cancel := context.WithTimeout(ctx, publishWithin)
	defer cancel()
	maps := p.Client.CoreV1().ConfigMaps(p.Namespace)
	found, err := maps.Get(ctx, p.Name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	there, _ := parse(found.Data) // what is wrong is written over
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
