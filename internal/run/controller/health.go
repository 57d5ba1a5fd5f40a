package controller

import (
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// Health is what the probes ask about. It is safe for concurrent use.
type Health struct {
	slis     slis
	scraping sync.Mutex // held while an answer to a scrape is made

	mu       sync.Mutex
	standby  bool   // another process works
	second   string // what keeps a process from working that may be a second controller; empty for nothing
	listing  bool   // the view of the cluster is being made
	denied   string // which rights are missing for that; empty for none
	full     bool   // the log has no room
	rival    string // what another controller does to our Jobs; empty when none does
	stopping bool
	failed   error     // the log accepts nothing more
	turned   time.Time // when the loop was last seen to go round, which it does every second

	Holes    func() []error // what is wrong with sealed files of the log; nil until it is open
	degraded func() string  // what the NATS stream does not do; nil when there is none
	copied   func() string  // what the copy of the log does not have; nil when there is none
	over     string         // which namespaces are over their budgets of log; empty for none
	// retention is what keeps the log from getting as small as it should be; empty for nothing.
	retention string
	gangs     string // what Jobs wait for that are to have a Workload and a PodGroup; empty for nothing
	beside    string // the holder of another Lease beside us that we do not yield to; empty for none

	logger *slog.Logger               // where sentences go that the open port does not tell; nil for nowhere
	told   map[string]map[string]bool // by probe, the checks that were wrong when it was asked last
}

// stuck is how long the loop may be silent before it is taken for dead: a disk that hangs, or a mistake of ours.
const stuck = time.Minute

func (h *Health) set(change func(*Health)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	change(h)
}

// notListed says which rights are missing to list the cluster, while the view of it is being made; empty for none.
func (h *Health) notListed() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.listing {
		return ""
	}
	return h.denied
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
	if h.standby && h.second != "" {
		return append(all, check{name: "lease", says: h.second})
	}
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

// warnings are what does not keep the controller from working. Their sentences may name Jobs, namespaces, files and
// users.
func (h *Health) warnings() []check {
	var degraded, copied func() string
	var holes func() []error
	var all []check
	h.set(func(h *Health) {
		holes, degraded, copied = h.Holes, h.degraded, h.copied
		all = []check{{"budget", h.over}, {"retention", h.retention}, {"gangs", h.gangs}, {"lease", h.beside}}
	})
	if holes != nil {
		for _, hole := range holes() {
			all = append(all, check{"log", fmt.Sprintf("a sealed file is damaged; the controller goes on without it: %v", hole)})
		}
	}
	all = slices.DeleteFunc(all, func(c check) bool { return c.says == "" })
	if degraded != nil {
		all = append(all, check{"nats", degraded()})
	}
	if copied != nil {
		all = append(all, check{"copy", copied()})
	}
	return all
}

// Probe answers 200 while nothing is wrong, and else 500 with what is. A sentence may name Jobs, so whoever comes from
// another machine is told one word for each check. The sentences are told on loopback, and in the log.
func (h *Health) Probe(name string, ready bool) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var text strings.Builder
		status := http.StatusOK
		sentences := onLoopback(r)
		line := func(mark, name, word, says string) {
			if sentences {
				word = says
			}
			fmt.Fprintf(&text, "[%s]%s%s\n", mark, name, word)
		}
		checks := h.checks(ready)
		h.slis.note(name, checks)
		for _, c := range checks {
			if c.says == "" {
				line("+", c.name, " ok", " ok")
				continue
			}
			line("-", c.name, " failed", ": "+c.says)
			status = http.StatusInternalServerError
		}
		var warnings []check
		if ready {
			warnings = h.warnings()
		}
		for _, c := range warnings {
			switch {
			case c.says == "": // NATS and the copy are as well as the checks before
				line("+", c.name, " ok", " ok")
			case c.name == "nats" || c.name == "copy":
				line("~", c.name, " warning", " "+c.says)
			default:
				line("~", c.name, " warning", ": "+c.says)
			}
		}
		h.tell(name, slices.Concat(checks, warnings))
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

// onLoopback reports whether a request has come to a loopback address of ours.
func onLoopback(r *http.Request) bool {
	addr, _ := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	return addr != nil && addr.IP.IsLoopback()
}

// tell logs the sentence of each check that a probe finds wrong and that the probe before it did not.
func (h *Health) tell(probe string, wrong []check) {
	h.mu.Lock()
	defer h.mu.Unlock()
	before := h.told[probe]
	now := map[string]bool{}
	for _, c := range wrong {
		if c.says == "" {
			continue
		}
		if now[c.name] = true; !before[c.name] && h.logger != nil {
			h.logger.Warn("a check of the probes found something", "probe", probe, "check", c.name, "says", c.says)
		}
	}
	if h.told == nil {
		h.told = map[string]map[string]bool{}
	}
	h.told[probe] = now
}
