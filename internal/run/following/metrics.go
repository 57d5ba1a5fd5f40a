package following

import (
	"math"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/run/replicametrics"
	"github.com/jobledger/jobledger/store/open"
)

// The metrics of branches (records at the end of this log that were set aside), in addition to the metrics of package
// replicametrics.
var (
	branches = replicametrics.Desc("branches",
		"Ends of this log that another controller led without, each in a folder of the log's directory.")
	branchBytes = replicametrics.Desc("branch_bytes", "Bytes of the files in the folders of branches, which nothing deletes.")
)

// Describe implements prometheus.Collector: it sends the descriptions of the metrics.
func (s *Standby) Describe(all chan<- *prometheus.Desc) {
	replicametrics.Describe(all)
	all <- branches
	all <- branchBytes
}

// Collect implements prometheus.Collector: it sends the current values of the metrics.
func (s *Standby) Collect(all chan<- prometheus.Metric) {
	view := s.view()
	view.Collect(all)
	folders, bytes, err := open.BranchUsage(s.config.Log)
	n, size := float64(folders), float64(bytes)
	if err != nil {
		n, size = math.NaN(), math.NaN() // the disk cannot be read; an old number would hide this
	}
	replicametrics.Gauge(all, branches, n)
	replicametrics.Gauge(all, branchBytes, size)
}

// heard is what another process last said about its copy of the log.
type heard struct {
	process string // name under which that process holds or wants the Lease
	through events.Sequence
	at      time.Time
	leads   bool
}

// view returns what this process knows about the other processes with this log, for metrics. A process that copies the
// log knows the leader. A leader knows the processes that copy its log, and the previous leader.
func (s *Standby) view() replicametrics.View {
	v := replicametrics.View{Host: replicametrics.Host(s.config.Self), Leads: s.config.Leads(), Now: time.Now()}
	s.mu.Lock()
	v.AsOf = s.asOf
	all := []heard{s.leader}
	own := events.Sequence(0)
	if s.log != nil {
		own = s.log.Head().Sequence
	}
	s.mu.Unlock()
	if v.Leads {
		all[0].leads = false
		for _, f := range s.config.Followers() {
			all = append(all, heard{process: f.Name, through: f.Through, at: f.Heard})
		}
	}
	for host, h := range s.byHost(all, v.Now) {
		v.Others = append(v.Others, replicametrics.Other{
			Host: host, Lacks: uint64(max(own, h.through) - h.through), Silent: v.Now.Sub(h.at), Leads: h.leads,
		})
	}
	return v
}

// byHost returns the last answers under the names that the metrics use, which are names of hosts. Of several processes
// of one host, the one that answered last counts. Another process on this host has a name of its own while it answers.
func (s *Standby) byHost(all []heard, now time.Time) map[string]heard {
	hosts := map[string]heard{}
	for _, h := range all {
		host := replicametrics.Host(h.process)
		if host == replicametrics.Host(s.config.Self) {
			if host = h.process; host == s.config.Self || now.Sub(h.at) > mostBehind {
				continue
			}
		}
		if before, is := hosts[host]; h.process != "" && (!is || h.at.After(before.at)) {
			hosts[host] = h
		}
	}
	return hosts
}
