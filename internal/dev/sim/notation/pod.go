package notation

import (
	"strconv"
	"strings"
	"time"

	"github.com/jobledger/jobledger/events"
)

// NewPod returns a pod as the controller creates it for a Job.
func NewPod(uid, owner string, ordinal uint64, now events.Time) events.PodSeen {
	return events.PodSeen{
		UID: uids(uid)[0], Version: ordinal, Phase: events.PodPending, Created: now.Add(-time.Minute).Second(), Tracked: true,
		Owner: uids(owner)[0], Selected: true, Index: events.NoIndex, Ordinal: ordinal,
	}
}

// Pod changes a pod by one word of a script. ok is false if the word is not about a pod.
func Pod(p *events.PodSeen, word string, now events.Time) (ok bool, err error) {
	key, value, given := strings.Cut(word, "=")
	at := func(field *events.Time, otherwise string) {
		if !given {
			value = otherwise
		}
		*field, err = Time(value, now)
	}
	count := func(field *uint32) {
		var n uint64
		n, err = strconv.ParseUint(value, 10, 32)
		*field = uint32(n)
	}
	switch key {
	case "Pending", "Running", "Succeeded", "Failed", "Unknown":
		for phase := events.PodPending; phase <= events.PodUnknown; phase++ {
			if phase.String() == key {
				p.Phase = phase
			}
		}
		p.Scheduled = p.Phase != events.PodPending
		if p.Phase.Terminal() {
			p.Finished, p.Ready = now.Add(-time.Second).Second(), false
		}
	case "ready":
		p.Ready = true
		at(&p.ReadySince, "-30s")
	case "deleting":
		at(&p.Deleted, "-1s")
	case "endedFirst":
		p.EndedFirst = true
	case "finished":
		at(&p.Finished, "-1s")
	case "created":
		at(&p.Created, "none")
	case "scheduled":
		p.Scheduled = true
	case "unscheduled":
		p.Scheduled = false
	case "untracked":
		p.Tracked = false
	case "unselected":
		p.Selected = false
	case "unowned":
		p.Owner = ""
	case "stranger": // another client created it, not the controller
		p.Ordinal = 0
	case "index":
		var n *int32
		if n, err = number(value); n != nil {
			p.Index = *n
		}
	case "exit": // main:1 for a container, setup!:1 for an init container
		name, code, named := strings.Cut(value, ":")
		if !named {
			name, code = "main", name
		}
		var n *int32
		if n, err = number(code); n != nil {
			p.Exits = append(p.Exits, events.ContainerExit{Name: strings.TrimSuffix(name, "!"), Init: strings.HasSuffix(name, "!"), Code: *n})
		}
	case "cond":
		kind, status, _ := strings.Cut(value, ":")
		if status == "" {
			status = "True"
		}
		p.Conditions = append(p.Conditions, events.PodCondition{Type: kind, Status: status})
	case "waiting": // the reason for which a container waits; empty for none
		p.Waiting = value
	case "failures":
		count(&p.IndexFailures)
	case "ignored":
		count(&p.IndexIgnoredFailures)
	case "restarts":
		count(&p.Restarts)
		p.MaxRestarts = p.Restarts
	case "sidecarRestarts":
		count(&p.MaxSidecarRestarts)
	default:
		return false, nil
	}
	return true, err
}
