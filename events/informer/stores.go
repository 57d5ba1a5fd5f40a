package informer

import (
	"errors"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"
)

// jobStore and podStore are what the reflectors write to. They keep nothing: each call goes on to the feed. The
// reflector would swallow an error of the watch's, so those that end everything go to fail as well.
type jobStore struct {
	feed   *Feed
	source *source
	fail   func(error)
}

func (s jobStore) Add(obj any) error    { return s.Update(obj) }
func (s jobStore) Resync() error        { return nil }
func (s jobStore) Update(obj any) error { return with(obj, s.feed.JobChanged, s.fail) }
func (s jobStore) Delete(obj any) error { return with(obj, s.feed.JobDeleted, s.fail) }

// Replace takes a list, whether it came by LIST or by a watch that began with it.
func (s jobStore) Replace(objs []any, version string) error {
	jobs, err := all[*batchv1.Job](objs)
	if err == nil {
		err = s.source.judge(s.feed.replaceJobs(jobs, version, s.source.consistent.Load()))
	}
	return checked(err, s.fail)
}

// Bookmark implements cache.ReflectorBookmarkStore.
func (s jobStore) Bookmark(version string) error {
	return checked(s.feed.bookmark(&s.feed.jobList, version), s.fail)
}

// Transformer implements cache.TransformingStore.
func (s jobStore) Transformer() cache.TransformFunc { return stripped }

type podStore struct {
	feed   *Feed
	source *source
	fail   func(error)
}

func (s podStore) Add(obj any) error    { return s.Update(obj) }
func (s podStore) Resync() error        { return nil }
func (s podStore) Update(obj any) error { return with(obj, s.feed.PodChanged, s.fail) }
func (s podStore) Delete(obj any) error { return with(obj, s.feed.PodDeleted, s.fail) }

// Replace takes a list, whether it came by LIST or by a watch that began with it.
func (s podStore) Replace(objs []any, version string) error {
	pods, err := all[*corev1.Pod](objs)
	if err == nil {
		err = s.source.judge(s.feed.replacePods(pods, version, s.source.consistent.Load()))
	}
	return checked(err, s.fail)
}

// Bookmark implements cache.ReflectorBookmarkStore.
func (s podStore) Bookmark(version string) error {
	return checked(s.feed.bookmark(&s.feed.podList, version), s.fail)
}

// Transformer implements cache.TransformingStore.
func (s podStore) Transformer() cache.TransformFunc { return stripped }

var (
	_ cache.TransformingStore      = jobStore{}
	_ cache.TransformingStore      = podStore{}
	_ cache.ReflectorBookmarkStore = jobStore{}
	_ cache.ReflectorBookmarkStore = podStore{}
)

func with[T any](obj any, do func(T) error, fail func(error)) error {
	o, ok := obj.(T)
	if !ok {
		return checked(fmt.Errorf("the watch brought a %T: %w", obj, ErrUnusable), fail)
	}
	return checked(do(o), fail)
}

func checked(err error, fail func(error)) error {
	if errors.Is(err, ErrUnusable) {
		fail(err)
	}
	return err
}

func all[T any](objs []any) ([]T, error) {
	list := make([]T, 0, len(objs))
	for _, obj := range objs {
		o, ok := obj.(T)
		if !ok {
			return nil, fmt.Errorf("the list holds a %T: %w", obj, ErrUnusable)
		}
		list = append(list, o)
	}
	return list, nil
}
