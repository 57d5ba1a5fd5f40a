package informer

import (
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"
)

// jobStore and podStore are what the reflectors write to. They keep nothing: each call goes on to the view.
type jobStore struct{ view *view }

func (s jobStore) Add(obj any) error    { return s.Update(obj) }
func (s jobStore) Resync() error        { return nil }
func (s jobStore) Update(obj any) error { return with(obj, s.view.jobChanged) }
func (s jobStore) Delete(obj any) error { return with(obj, s.view.jobDeleted) }

// Replace takes a list, whether it came by LIST or by a watch that began with it.
func (s jobStore) Replace(objs []any, version string) error {
	jobs, err := all[*batchv1.Job](objs)
	if err != nil {
		return err
	}
	return s.view.replaceJobs(jobs, version)
}

// Bookmark implements cache.ReflectorBookmarkStore.
func (s jobStore) Bookmark(version string) error { return s.view.bookmark(&s.view.jobList, version) }

// Transformer implements cache.TransformingStore.
func (s jobStore) Transformer() cache.TransformFunc { return stripped }

type podStore struct{ view *view }

func (s podStore) Add(obj any) error    { return s.Update(obj) }
func (s podStore) Resync() error        { return nil }
func (s podStore) Update(obj any) error { return with(obj, s.view.podChanged) }
func (s podStore) Delete(obj any) error { return with(obj, s.view.podDeleted) }

// Replace takes a list, whether it came by LIST or by a watch that began with it.
func (s podStore) Replace(objs []any, version string) error {
	pods, err := all[*corev1.Pod](objs)
	if err != nil {
		return err
	}
	return s.view.replacePods(pods, version)
}

// Bookmark implements cache.ReflectorBookmarkStore.
func (s podStore) Bookmark(version string) error { return s.view.bookmark(&s.view.podList, version) }

// Transformer implements cache.TransformingStore.
func (s podStore) Transformer() cache.TransformFunc { return stripped }

var (
	_ cache.TransformingStore      = jobStore{}
	_ cache.TransformingStore      = podStore{}
	_ cache.ReflectorBookmarkStore = jobStore{}
	_ cache.ReflectorBookmarkStore = podStore{}
)

func with[T any](obj any, do func(T) error) error {
	o, ok := obj.(T)
	if !ok {
		return fmt.Errorf("the watch brought a %T: %w", obj, errUnusable)
	}
	return do(o)
}

func all[T any](objs []any) ([]T, error) {
	list := make([]T, 0, len(objs))
	for _, obj := range objs {
		o, ok := obj.(T)
		if !ok {
			return nil, fmt.Errorf("the list holds a %T: %w", obj, errUnusable)
		}
		list = append(list, o)
	}
	return list, nil
}
