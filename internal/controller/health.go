package controller

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Health is what the probes ask about. It is safe for concurrent use.
type Health struct {
	slis slis

	mu       sync.Mutex
	standby  bool   // another process works
	listing  bool   // the view of the cluster is being made
	denied   string // which rights are missing for that; empty for none
	full     bool   // the log has no room
	rival    string // what another controller does to our Jobs; empty when none does
	stopping bool
	failed   error     // the log accepts nothing more
	turned   time.Time // when the loop was last seen to go round, which it does every second

	Holes    func() []error // what is wrong with sealed files of the log; nil until it is open
	degraded func() string  // what the NATS stream does not do; nil when there is none
	over     string         // which namespaces are over their budgets of log; empty for none
	// retention is what keeps the log from getting as small as it should be; empty for nothing.
	retention string
	beside    string // the holder of another Lease beside us that we do not yield to; empty for none
}

// stuck is how long the loop may be silent before it is taken for dead: a disk that hangs, or a mistake of ours.
const stuck = time.Minute

func (h *Health) set(change func(*Health)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	change(h)
}

// check is one thing that may be wrong; says is empty while it is not.
type check struct{ name, says string }

// checks are, for each probe, all that it looks at. A controller whose log failed or whose loop stands still does not
// live; one that cannot work at the moment lives and is not ready.
func (h *Health) checks(ready bool) []check {
	h.mu.Lock()
	defer h.mu.Unlock()
	all := []check{{name: "log"}}
	if h.failed != nil {
		all[0].says = h.failed.Error()
	}
	say := func(name string, wrong bool, text string) {
		c := check{name: name}
		if wrong {
			c.says = text
		}
		all = append(all, c)
	}
	silent := time.Since(h.turned)
	say("loop", !h.turned.IsZero() && !h.stopping && silent > stuck, fmt.Sprintf("it has not gone round for %s", silent.Round(time.Second)))
	if !ready {
		return all
	}
	say("room", h.full, "the log's disk has no room: nothing is done until there is")
	if h.standby {
		return append(all, check{name: "standby"}) // which is what it is for
	}
	listing := "the cluster is being listed: nothing is decided until that is done"
	if h.denied != "" {
		listing = h.denied
	}
	say("listing", h.listing, listing)
	say("rival", h.rival != "", h.rival)
	say("running", h.stopping, "the controller stops")
	return all
}

// Probe answers 200 while nothing is wrong, and else 500 with what is.
func (h *Health) Probe(name string, ready bool) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var text strings.Builder
		status := http.StatusOK
		checks := h.checks(ready)
		h.slis.note(name, checks)
		for _, c := range checks {
			if c.says == "" {
				fmt.Fprintf(&text, "[+]%s ok\n", c.name)
				continue
			}
			fmt.Fprintf(&text, "[-]%s: %s\n", c.name, c.says)
			status = http.StatusInternalServerError
		}
		var degraded func() string
		var holes func() []error
		var over, beside, retention string
		h.set(func(h *Health) {
			holes, degraded, over, beside, retention = h.Holes, h.degraded, h.over, h.beside, h.retention
		})
		if holes != nil && ready {
			for _, hole := range holes() {
				fmt.Fprintf(&text, "[~]log: a sealed file is damaged; the controller goes on without it: %v\n", hole)
			}
		}
		if over != "" && ready {
			fmt.Fprintf(&text, "[~]budget: %s\n", over)
		}
		if retention != "" && ready {
			fmt.Fprintf(&text, "[~]retention: %s\n", retention)
		}
		if beside != "" && ready {
			fmt.Fprintf(&text, "[~]lease: %s\n", beside)
		}
		if degraded != nil && ready {
			if says := degraded(); says != "" {
				fmt.Fprintf(&text, "[~]nats %s\n", says)
			} else {
				fmt.Fprint(&text, "[+]nats ok\n")
			}
		}
		_, verbose := r.URL.Query()["verbose"]
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.WriteHeader(status)
		if status == http.StatusOK && !verbose {
			fmt.Fprint(w, "ok")
			return
		}
		fmt.Fprint(w, text.String())
	}
}
