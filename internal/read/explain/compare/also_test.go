package compare

import (
	"strings"
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/read/explain/try"
	"github.com/jobledger/jobledger/internal/read/explain/whentest"
	"github.com/jobledger/jobledger/internal/read/history"
)

// TestRatesOfOthers: a rate of the Jobs that have something in common is reported if it is at least twice the rate of the
// rest, of which there are enough. An exit code is the same cause only for the same program or the same message.
func TestRatesOfOthers(t *testing.T) {
	// F and C have it, f and c do not; f and F failed; what befell F befell S, which succeeded
	others := func(text string) (all []*peer) {
		for i, r := range text {
			p := &peer{
				marks: []explain.Mark{whentest.Seen(events.Sequence(i+1), 1)},
				nodes: map[string]bool{"n": r == 'F' || r == 'C'}, ends: map[string]explain.Mark{},
			}
			if r == 'F' || r == 'S' {
				p.ends["main exit 1"] = whentest.Seen(events.Sequence(i+1), 1)
			}
			if p.sum.State = history.StateComplete; r == 'f' || r == 'F' {
				p.sum.State = history.StateFailed
			}
			all = append(all, p)
		}
		return all
	}
	for text, want := range map[string]string{
		"FFccc": "n: 2 of 2 failed, elsewhere 0 of 3", "Fccc": "", "FFcc": "", "ffff": "", "FCffcc": "",
		"FFCfcc": "n: 2 of 3 failed, elsewhere 1 of 3", "FFCCfcc": "", "FFCffc": "", "CCCC": "", "CCfccc": "",
	} {
		a := account{peers: others(text), failed: strings.Count(strings.ToLower(text), "f")}
		a.compare("n", "elsewhere", func(p *peer) bool { return p.nodes["n"] })
		if got := strings.Join(a.parts, " · "); got != want || (len(a.from) > 0) != (want != "") {
			t.Errorf("%s: %q by %d records, want %q", text, got, len(a.from), want)
		}
	}
	alike := func(is bool) func(*peer) bool { return func(*peer) bool { return is } }
	for text, want := range map[string]string{
		"CC": "", "Cf": "", "CF": "main exit 1 in 1 of them", "FFFFFFFF": "main exit 1 in 8 of them",
		"SSf": "main exit 1 in 2 of them, and none of these failed",
		"SFF": "main exit 1 in 3 of them; 1 of these succeeded",
		"SSC": "main exit 1 in 2 of them, and none of these failed",
	} {
		a := account{peers: others(text), failed: strings.Count(strings.ToLower(text), "f")}
		a.ends(lot{text: "main exit 1", own: true}, alike(true))
		if got := strings.Join(a.parts, ""); got != want || len(a.from) != min(strings.Count(text, "F")+strings.Count(text,
			"S"), explain.MostCited) {
			t.Errorf("%s: %q by %d records, want %q", text, got, len(a.from), want)
		}
	}
	for name, row := range map[string]struct {
		how   lot
		alike bool
		says  string // of the others
		want  string
	}{
		"of another program":                   {lot{text: "main exit 1", own: true}, false, "", ""},
		"of another program, with other words": {lot{"main exit 1", true, "no disk"}, false, "no net", ""},
		"of another program, with the same":    {lot{"main exit 1", true, "no net"}, false, "no net", "main exit 1 in 2 of them"},
		"not by itself":                        {lot{text: "main exit 1"}, false, "", "main exit 1 in 2 of them"},
	} {
		a := account{peers: others("FF"), failed: 2}
		for _, p := range a.peers {
			p.says = map[string]string{"main exit 1": row.says}
		}
		a.ends(row.how, alike(row.alike))
		if got := strings.Join(a.parts, ""); got != row.want {
			t.Errorf("%s: %q, want %q", name, got, row.want)
		}
	}
}

// TestFatesThatOthersShare: the words of how a try was ended are those of the tries of other Jobs.
func TestFatesThatOthersShare(t *testing.T) {
	exited := &try.Try{Reason: "Error", Containers: []events.ContainerEnd{whentest.Exit("main", 3, nil)}}
	shared := map[try.By]string{
		try.ByOwnLimit: "a limit of the pod's own", try.ByDeadline: "the pod's own deadline",
		try.ByKubelet: "ended by a kubelet (Error)", try.ByItself: "main exit 3", try.BySignal: "main exit 3",
	}
	for _, by := range []try.By{try.ByEviction, try.ByPreemption, try.ByTaint, try.ByDevice, try.ByOther, try.ByNodeGone} {
		shared[by] = string(by)
	}
	for _, by := range []try.By{
		try.ByUs, try.ByController, try.ByClient, try.ByUnknown, try.ByNamespace, try.ByJobDeleted, try.ByNothing,
		try.ByNobody,
	} {
		shared[by] = ""
	}
	for by, want := range shared {
		if got := fate(exited, by); got != want {
			t.Errorf("%s: %q, want %q", by, got, want)
		}
	}
	if got := fate(&try.Try{}, try.ByKubelet); got != "" {
		t.Errorf("a kubelet ended it without a reason: %q", got)
	}
	for word, want := range map[string]string{
		"ErrImagePull": "ImagePullBackOff", "ImagePullBackOff": "ImagePullBackOff", "ContainerCreating": "", "": "",
	} {
		if got := waitFate(word); got != want {
			t.Errorf("it waits for %q: %q, want %q", word, got, want)
		}
	}
	said := func(text string) func(*events.ContainerEnd) { return func(k *events.ContainerEnd) { k.Message = text } }
	for want, all := range map[string][]events.ContainerEnd{
		"": {whentest.Exit("ok", 0, said("fine")), whentest.Exit("main", 1, nil)},
		"second": {whentest.Exit("ok", 0, said("fine")), whentest.Exit("first", 1, nil), whentest.Exit("main", 2,
			said("second")), whentest.Exit("last", 3, said("third"))},
	} {
		if got := messageOf(&try.Try{Containers: all}); got != want {
			t.Errorf("its message is %q, want %q", got, want)
		}
	}
}
