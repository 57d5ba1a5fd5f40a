package words

import (
	"testing"

	"github.com/jobledger/jobledger/events"
)

func TestRewindIsToldInPlainWords(t *testing.T) {
	for want, f := range map[string]*events.EpochChanged{
		"epoch 2 begins: the cluster was restored from a backup: jobs went back from revision 90 to 40; everything is listed again": {
			Epoch: 2, Reason: events.EpochClusterRewound, Rewind: events.Rewind{Resource: events.Jobs, Known: 90, Found: 40},
		},
		"epoch 2 begins: the cluster was restored from a backup: object u of pods went back from revision 90 to 40; everything is listed again": {
			Epoch: 2, Reason: events.EpochClusterRewound, Rewind: events.Rewind{Resource: events.Pods, Known: 90, Found: 40, Object: "u"},
		},
		"epoch 2 begins: the cluster was restored from a backup: object u of jobs had gone at revision 90 and is there again at 95; everything is listed again": {
			Epoch: 2, Reason: events.EpochClusterRewound, Rewind: events.Rewind{Resource: events.Jobs, Known: 90, Found: 95, Object: "u"},
		},
		"epoch 3 begins: the log goes on without records that are lost": {Epoch: 3, Reason: events.EpochRestored},
		"epoch 3 begins: the log goes on without what another controller may have written behind record 69: the Lease says that the log had record 60 of epoch 2": {
			Epoch: 3, Reason: events.EpochRestored, Lost: events.Loss{Witness: events.WitnessLease, Epoch: 2, Sequence: 60},
		},
		"epoch 3 begins: the log goes on without records that are lost: the Lease says that the log had record 75 of epoch 2": {
			Epoch: 3, Reason: events.EpochRestored, Lost: events.Loss{Witness: events.WitnessLease, Epoch: 2, Sequence: 75},
		},
	} {
		if got := epochText(f, 70); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
