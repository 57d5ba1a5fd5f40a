package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/history"
	"github.com/jobledger/jobledger/internal/words"
)

// findElsewhere finds an object that is not in the namespace where it was looked for, if the user did not name that, and it is in one other
// namespace: that is said. Several are an error that names them. There may be none.
func (c *cli) findElsewhere(ctx context.Context, src history.Source, p inSpace, h handle) ([]events.Stream, error) {
	if p.named {
		return nil, nil
	}
	spaces, err := c.spacesOf(ctx, src, h)
	if err != nil {
		return nil, err
	}
	spaces = slices.DeleteFunc(spaces, func(s string) bool { return s == p.namespace })
	var in []string
	var streams []events.Stream
	for _, space := range spaces {
		found, err := here(ctx, src, space, h)
		if err != nil && !src.Beside(err) {
			return nil, err
		}
		if len(found) > 0 {
			in, streams = append(in, space), found
		}
	}
	switch len(in) {
	case 0:
		return nil, nil
	case 1:
		fmt.Fprintf(c.err, "note: %s is in namespace %s\n", words.Clean(h.String()), words.Clean(in[0]))
		return streams, nil
	}
	return nil, fmt.Errorf("%s is in %d namespaces: choose one with -n: %s", h, len(in), words.Clean(strings.Join(in, ", ")))
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

// spacesOf are the namespaces that may have an object: those with a Job or a CronJob with its name, or with a Job with whose name it begins, as the name
// of a pod does.
func (c *cli) spacesOf(ctx context.Context, src history.Source, h handle) (spaces []string, err error) {
	add := func(space string) {
		if !slices.Contains(spaces, space) {
			spaces = append(spaces, space)
		}
	}
	if h.cron {
		page, err := src.CronJobs(ctx, history.CronJobsQuery{Name: h.name})
		if err != nil && !src.Beside(err) {
			return nil, err
		}
		for i := range page.Items {
			if page.Items[i].Name == h.name {
				add(page.Items[i].Namespace)
			}
		}
		slices.Sort(spaces)
		return spaces, nil
	}
	// The name of a Job may be longer than what its pods' names keep of it.
	const kept = 40
	q := history.JobsQuery{Limit: manyJobs}
	for {
		page, err := src.Jobs(ctx, q)
		if err != nil && !src.Beside(err) {
			return nil, err
		}
		for i := range page.Items {
			if name := page.Items[i].Name; strings.HasPrefix(h.name, name[:min(len(name), kept)]) {
				add(page.Items[i].Namespace)
			}
		}
		if q.Continue = page.Continue; q.Continue == "" {
			slices.Sort(spaces)
			return spaces, nil
		}
	}
}

// kindOf finds what a name alone means: a Job, a CronJob or a pod, in the namespace that is meant or else in another one. Several are an error that
// names them.
func (c *cli) kindOf(ctx context.Context, src history.Source, p inSpace, name string) (h handle, in inSpace, err error) {
	kinds := []handle{{name: name}, {name: name, cron: true}, {name: name, pod: true}}
	if uidBegins.MatchString(name) {
		if found, err := c.byNameIn(ctx, src, p.namespace, kinds[:2]); err == nil && len(found) == 0 {
			return handle{name: name}, p, nil // a UID, or how one begins
		}
	}
	found, err := c.byNameIn(ctx, src, p.namespace, kinds)
	if err != nil {
		return h, p, err
	}
	var all []string
	spaces := map[string][]handle{p.namespace: found}
	if len(found) == 0 && !p.named {
		for _, kind := range []handle{kinds[0], kinds[1]} {
			some, err := c.spacesOf(ctx, src, kind)
			if err != nil {
				return h, p, err
			}
			for _, space := range some {
				if spaces[space] == nil {
					if spaces[space], err = c.byNameIn(ctx, src, space, kinds); err != nil {
						return h, p, err
					}
				}
			}
		}
	}
	for space, of := range spaces {
		for _, one := range of {
			all, h, in = append(all, one.String()+" -n "+space), one, inSpace{space, true}
		}
	}
	slices.Sort(all)
	switch {
	case len(all) == 0:
		return h, p, fmt.Errorf("the log knows no Job, CronJob or pod %q in namespace %q (%s)", name, p.namespace, c.anyElsewhere(ctx, src, p.namespace, name))
	case len(all) > 1:
		return h, p, usage("%q is several things; write one of them: %s", name, words.Clean(strings.Join(all, ", ")))
	case in.namespace != p.namespace:
		fmt.Fprintf(c.err, "note: %s is in namespace %s\n", words.Clean(h.String()), words.Clean(in.namespace))
	}
	return h, in, nil
}

// anyElsewhere says where there is a Job or a CronJob of that name, or one with a name like it.
func (c *cli) anyElsewhere(ctx context.Context, src history.Source, namespace, name string) string {
	crons, _ := src.CronJobs(ctx, history.CronJobsQuery{Name: name, Limit: usualJobs}) // with an error there is only no hint
	for i := range crons.Items {
		if crons.Items[i].Name == name {
			return c.cronElsewhere(ctx, src, namespace, name)
		}
	}
	return c.elsewhere(ctx, src, namespace, name)
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
