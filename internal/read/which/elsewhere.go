package which

import (
	"context"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/say/words"
)

// findElsewhere searches h in the other namespaces, unless the user named a namespace. If exactly one object has the
// name, it returns the object's streams (a stream: the records of one object), and tells the user the namespace. If
// several have it, it returns an error that lists some of them. If none has it, it returns nothing.
func (f *Finder) findElsewhere(ctx context.Context, p Place, h Object) ([]events.Stream, error) {
	if p.Named {
		return nil, nil
	}
	all, err := f.candidates(ctx, h, p.Namespace)
	switch {
	case err != nil || len(all) == 0:
		return nil, err
	case len(all) > 1:
		return nil, f.several(ctx, h, all)
	}
	f.note("%s is in namespace %s", words.Clean(h.String()), words.Clean(all[0].namespace))
	streams, err := f.here(ctx, all[0].namespace, all[0].Object)
	if f.Source.Beside(err) && len(streams) > 0 {
		err = nil
	}
	return streams, err
}

// here searches the object h by its name, in one namespace only. It returns the streams (the records of one object
// each) that it finds, the newest first.
func (f *Finder) here(ctx context.Context, namespace string, h Object) ([]events.Stream, error) {
	switch {
	case h.Kind == CronJob:
		return history.FindCronJobs(ctx, f.Source, namespace, h.Name)
	case h.Kind != Pod:
		return history.FindJobs(ctx, f.Source, namespace, h.Name)
	}
	s, ok, err := history.JobOfPod(ctx, f.Source, namespace, h.Name)
	if !ok || err != nil {
		return nil, err
	}
	return []events.Stream{s}, nil
}

// Resolve finds the kind and the namespace of h, an object that the user gave without a kind. It searches Jobs,
// CronJobs and pods, first in the namespace p and then, if the user did not name p, in the others. If several objects
// have the name, it returns an error that lists some of them. If h has a kind, it returns h and p unchanged.
func (f *Finder) Resolve(ctx context.Context, p Place, h Object) (Object, Place, error) {
	if h.Kind != Any {
		return h, p, nil
	}
	return f.kindOf(ctx, p, h.Name)
}

func (f *Finder) kindOf(ctx context.Context, p Place, name string) (h Object, in Place, err error) {
	kinds := kindsOf(Object{Name: name, Kind: Any})
	if uidBegins.MatchString(name) {
		if found, err := f.byNameIn(ctx, p.Namespace, kinds[:2]); err == nil && len(found) == 0 {
			// No Job or CronJob has this name, so it is taken as a UID, or as the beginning of one.
			return Object{Name: name}, p, nil
		}
	}
	found, err := f.byNameIn(ctx, p.Namespace, kinds)
	if err != nil {
		return h, p, err
	}
	var all []candidate
	for _, one := range found {
		all = append(all, candidate{Object: one, namespace: p.Namespace})
	}
	if len(all) == 0 && !p.Named {
		if all, err = f.candidates(ctx, Object{Name: name, Kind: Any}, p.Namespace); err != nil {
			return h, p, err
		}
	}
	switch len(all) {
	case 0:
		return h, p, f.unknown(ctx, p, Object{Name: name, Kind: Any})
	case 1:
		h, in = all[0].Object, Place{all[0].namespace, true}
	default:
		return h, p, f.several(ctx, Object{Name: name, Kind: Any}, all)
	}
	if in.Namespace != p.Namespace {
		f.note("%s is in namespace %s", words.Clean(h.String()), words.Clean(in.Namespace))
	}
	return h, in, nil
}

// kindsOf returns h once with each kind that it may have, in the order in which they are searched.
func kindsOf(h Object) []Object {
	job, cron, pod := Object{Name: h.Name}, Object{Name: h.Name, Kind: CronJob}, Object{Name: h.Name, Kind: Pod}
	switch {
	case h.Kind == Any:
		return []Object{job, cron, pod}
	case h.Kind == CronJob:
		return []Object{cron}
	case h.Kind == Pod:
		return []Object{pod}
	}
	return []Object{job, pod}
}

// byNameIn returns those of the objects in kinds that the log knows in a namespace. It searches a pod only if neither a
// Job nor a CronJob has the name.
func (f *Finder) byNameIn(ctx context.Context, namespace string, kinds []Object) (found []Object, err error) {
	for _, h := range kinds {
		if h.Kind == Pod && len(found) > 0 {
			continue
		}
		streams, err := f.here(ctx, namespace, h)
		if err != nil && !f.Source.Beside(err) {
			return nil, err
		}
		if len(streams) > 0 {
			found = append(found, h)
		}
	}
	return found, nil
}
