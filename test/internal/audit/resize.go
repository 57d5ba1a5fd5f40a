package audit

import (
	"encoding/json"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/test/controlplane"
)

// resized returns the Deed (kind, object, owner, version) of a JSON patch of a PodGroup's minCount. The patch must
// first test the owner's UID, so that it changes only a PodGroup that the Job controls.
func resized(w *controlplane.Write) (Deed, error) {
	var steps []struct {
		Op, Path string
		Value    any
	}
	if err := json.Unmarshal([]byte(w.Body), &steps); err != nil {
		return Deed{}, fmt.Errorf("read its body: %w", err)
	}
	if len(steps) != 2 || steps[0].Op != "test" || steps[0].Path != "/metadata/ownerReferences/0/uid" ||
		steps[1].Op != "replace" || steps[1].Path != "/spec/schedulingPolicy/gang/minCount" {
		return Deed{}, errors.New("it changes something else than minCount, or whatever has the name")
	}
	owner, ok := steps[0].Value.(string)
	if !ok {
		return Deed{}, errors.New("its owner's UID is no text")
	}
	return Deed{Kind: events.CommandResizeGroup, Owner: types.UID(owner)}, nil
}
