package main

import (
	"context"
	"fmt"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/say/words"
)

// findElsewhere finds an object that is not in the namespace where it was looked for, if the user did not name that, and it is in one other
// namespace: that is said. Several are an error that names some of them. There may be none.
func (c *cli) findElsewhere(ctx context.Context, src history.Source, p inSpace, h handle) ([]events.Stream, error) {
	if p.named {
		return nil, nil
	}
	all, err := c.candidates(ctx, src, h, p.namespace)
	switch {
	case err != nil || len(all) == 0:
		return nil, err
	case len(all) > 1:
		return nil, c.several(ctx, src, h, all)
	}
	fmt.Fprintf(c.err, "note: %s is in namespace %s\n", words.Clean(h.String()), words.Clean(all[0].namespace))
	streams, err := here(ctx, src, all[0].namespace, all[0].handle)
	if src.Beside(err) && len(streams) > 0 {
		err = nil
	}
	return streams, err
}

// here finds an object in a namespace by its name alone.
func here(ctx context.Context, src history.Source, namespace string, h handle) ([]events.Stream, error) {
	switch {
	case h.cron:
		return history.FindCronJobs(ctx, src, namespace, h.name)
	case !h.pod:
		if found, err := history.FindJobs(ctx, src, namespace, h.name); len(found) > 0 || err != nil {
			return found, err
		}
	}
	s, ok, err := history.JobOfPod(ctx, src, namespace, h.name)
	if !ok || err != nil {
		return nil, err
	}
	return []events.Stream{s}, nil
}

// kindOf finds what a name alone means: a Job, a CronJob or a pod, in the namespace that is meant or else in another one. Several are an error that
// names some of them.
func (c *cli) kindOf(ctx context.Context, src history.Source, p inSpace, name string) (h handle, in inSpace, err error) {
	kinds := kindsOf(handle{name: name, any: true})
	if uidBegins.MatchString(name) {
		if found, err := c.byNameIn(ctx, src, p.namespace, kinds[:2]); err == nil && len(found) == 0 {
			return handle{name: name}, p, nil // a UID, or how one begins
		}
	}
	found, err := c.byNameIn(ctx, src, p.namespace, kinds)
	if err != nil {
		return h, p, err
	}
	var all []candidate
	for _, one := range found {
		all = append(all, candidate{handle: one, namespace: p.namespace})
	}
	if len(all) == 0 && !p.named {
		if all, err = c.candidates(ctx, src, handle{name: name, any: true}, p.namespace); err != nil {
			return h, p, err
		}
	}
	switch len(all) {
	case 0:
		return h, p, c.unknown(ctx, src, p, handle{name: name, any: true})
	case 1:
		h, in = all[0].handle, inSpace{all[0].namespace, true}
	default:
		return h, p, c.several(ctx, src, handle{name: name, any: true}, all)
	}
	if in.namespace != p.namespace {
		fmt.Fprintf(c.err, "note: %s is in namespace %s\n", words.Clean(h.String()), words.Clean(in.namespace))
	}
	return h, in, nil
}

// kindsOf are the kinds that a handle may mean, in the order in which they are looked for.
func kindsOf(h handle) []handle {
	job, cron, pod := handle{name: h.name}, handle{name: h.name, cron: true}, handle{name: h.name, pod: true}
	switch {
	case h.any:
		return []handle{job, cron, pod}
	case h.cron:
		return []handle{cron}
	case h.pod:
		return []handle{pod}
	}
	return []handle{job, pod}
}

// byNameIn are the kinds of which there is one in a namespace. A pod is looked for only where nothing else bears the name.
func (c *cli) byNameIn(ctx context.Context, src history.Source, namespace string, kinds []handle) (found []handle, err error) {
	for _, h := range kinds {
		var streams []events.Stream
		switch {
		case h.cron:
			streams, err = history.FindCronJobs(ctx, src, namespace, h.name)
		case !h.pod:
			streams, err = history.FindJobs(ctx, src, namespace, h.name)
		case len(found) == 0:
			streams, err = here(ctx, src, namespace, h)
		}
		if err != nil && !src.Beside(err) {
			return nil, err
		}
		if len(streams) > 0 {
			found = append(found, h)
		}
	}
	return found, nil
}

// nothingAt says that an object was not there at the point that was asked for: how its time was read, and where the log begins.
func (c *cli) nothingAt(ctx context.Context, src history.Source, h handle, at *pointFlag) error {
	if !at.given() {
		return fmt.Errorf("the log knows no %s", h)
	}
	text := fmt.Sprintf("the log has no record of %s up to %s", h, at.text)
	if at.sequence == 0 && at.when.ago == nil {
		zone := "UTC, unless they name a zone: --local takes them in the zone of this machine"
		if at.local {
			zone = "the zone of this machine (--local)"
		}
		text += "; times are in " + zone
	}
	for r, err := range src.Read(ctx, 0) {
		if err == nil {
			text += fmt.Sprintf("; the log begins at %s with record %d", words.Zone{}.Second(r.Time), r.Sequence)
		}
		break
	}
	return fmt.Errorf("%s", text)
}
