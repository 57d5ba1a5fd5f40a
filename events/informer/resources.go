package informer

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/jobledger/jobledger/events/observation"
	"github.com/jobledger/jobledger/internal/wire/kubewire"
)

// follow returns a follower for each resource of the feed. They are in the order in which their first lists are
// requested. The feed takes these lists in the same order; see its listing.go.
//
// To add a resource, write its access below and add a line here.
func (i *Informer) follow(c *Config) []*follower {
	all := []*follower{
		newFollower(i, c, i.feed.Jobs(), jobs(c.Client, c.Namespace)),
		newFollower(i, c, i.feed.Pods(), pods(c.Client, c.Namespace)),
	}
	if r := i.feed.CronJobs(); r != nil {
		all = append(all, newFollower(i, c, r, cronJobs(c.Client, c.Namespace)))
	}
	return all
}

// newFollower returns the follower that keeps the resource listed and watched.
func newFollower[O kubewire.Object](i *Informer, c *Config, r observation.Resource[O], a access) *follower {
	s := newSource(c.Client, a, r.Strip)
	s.asking = r.Asking
	return &follower{
		resource: r.Name(), source: s, expected: a.example, store: store[O]{r, s, a.read, i.fail, i.stopped},
		log: c.Feed.Logger.With("resource", r.Name().String()),
	}
}

// jobs returns the access to the Jobs of a namespace; empty for all namespaces. The same holds for pods and cronJobs.
func jobs(client kubernetes.Interface, namespace string) access {
	api := client.BatchV1().Jobs(namespace)
	whole := accessTo(&batchv1.Job{}, api.List, api.Watch)
	return reading(kubewire.Jobs, client.BatchV1().RESTClient(), namespace, "jobs", whole)
}

func pods(client kubernetes.Interface, namespace string) access {
	api := client.CoreV1().Pods(namespace)
	whole := accessTo(&corev1.Pod{}, api.List, api.Watch)
	return reading(kubewire.Pods, client.CoreV1().RESTClient(), namespace, "pods", whole)
}

func cronJobs(client kubernetes.Interface, namespace string) access {
	api := client.BatchV1().CronJobs(namespace)
	whole := accessTo(&batchv1.CronJob{}, api.List, api.Watch)
	return reading(kubewire.CronJobs, client.BatchV1().RESTClient(), namespace, "cronjobs", whole)
}
