package lease

import (
	"os"
	"testing"

	coordinationv1 "k8s.io/api/coordination/v1"
	"sigs.k8s.io/yaml"

	"github.com/jobledger/jobledger/events"
)

// TestALeaseOfBefore: a stored Lease of the last program before the first release lacks a mark, and an error says so.
// It has the mark once a holder of today has taken it.
func TestALeaseOfBefore(t *testing.T) {
	content, err := os.ReadFile("testdata/before.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var kept coordinationv1.Lease
	if err := yaml.UnmarshalStrict(content, &kept); err != nil {
		t.Fatal(err)
	}
	if said := saidBy(&kept); !said.Before || said.LogID != "0123456789abcdef0123456789abcdef" || said.Head != 417 {
		t.Errorf("it says %+v", said)
	}
	annotate(&kept, &Config{}, Log{Identity: events.Identity{LogID: "one", Epoch: 1}}, 0)
	if said := saidBy(&kept); said.Before || said.LogID != "one" {
		t.Errorf("taken, it says %+v", said)
	}
	if said := saidBy(&coordinationv1.Lease{}); said.Before {
		t.Error("one that names no log is of nobody")
	}
}
