package audit

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/test/controlplane"
)

// patch is the only patch of a pod that the controller sends; it changes metadata. Any other field is an error.
type patch struct {
	Metadata struct {
		UID             types.UID         `json:"uid"`
		ResourceVersion string            `json:"resourceVersion"`
		Annotations     map[string]string `json:"annotations"`
		Owners          []struct {
			Directive          string    `json:"$patch"`
			UID                types.UID `json:"uid"`
			APIVersion         string    `json:"apiVersion"`
			Kind               string    `json:"kind"`
			Name               string    `json:"name"`
			Controller         *bool     `json:"controller"`
			BlockOwnerDeletion *bool     `json:"blockOwnerDeletion"`
		} `json:"ownerReferences"`
		Add    []string `json:"finalizers"`
		Remove []string `json:"$deleteFromPrimitiveList/finalizers"`
	} `json:"metadata"`
}

// patched returns the Deed (kind, object, owner, version) of a pod's patch. The fields that it changes show which kind
// of command asked for it.
func patched(w *controlplane.Write) (Deed, error) {
	var p patch
	reader := json.NewDecoder(strings.NewReader(w.Body))
	reader.DisallowUnknownFields()
	if err := reader.Decode(&p); err != nil {
		return Deed{}, fmt.Errorf("read its body: %w", err)
	}
	m := &p.Metadata
	d := Deed{Object: string(m.UID)}
	if m.UID == "" {
		return d, errors.New("it changes whatever pod has the name")
	}
	for _, f := range append(m.Add, m.Remove...) {
		if f != events.TrackingFinalizer && f != events.BuiltinTrackingFinalizer {
			return d, fmt.Errorf("it changes the finalizer %s", f)
		}
	}
	if m.ResourceVersion != "" {
		var err error
		if d.Version, err = versionOf(m.ResourceVersion); err != nil {
			return d, err
		}
	}
	switch {
	case len(m.Owners) == 0 && len(m.Remove) > 0 && len(m.Add)+len(m.Annotations) == 0:
		d.Kind = events.CommandDropFinalizer
	case len(m.Owners) == 1 && m.Owners[0].Directive == "delete" && len(m.Add)+len(m.Annotations) == 0:
		d.Kind, d.Owner = events.CommandReleasePod, m.Owners[0].UID
	case len(m.Owners) == 1 && m.Owners[0].Directive == "":
		d.Kind, d.Owner = events.CommandAdoptPod, m.Owners[0].UID
	default:
		return d, fmt.Errorf("it is none of our patches: %s", w.Body)
	}
	return d, nil
}
