package words

import (
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/dev/examples"
)

func TestEveryKindIsShown(t *testing.T) {
	all := examples.Facts()
	for k := events.Kind(1); k < 256; k++ {
		if k.Known() && all[k] == nil {
			t.Errorf("%s has no example here", k)
		}
	}
	for kind, facts := range all {
		var names Names
		r := events.Record{Header: events.Header{Sequence: 7, Time: 1, Stream: events.JobStream("u"), Kind: kind}, Facts: facts}
		if kind != events.KindWouldDecide && names.Detail(&r) == "" {
			t.Errorf("%s says nothing", kind)
		}
	}
}
