package controller

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/wire/v1alpha2"
	"github.com/jobledger/jobledger/reconciler/executor"
)

// NoGangsError is returned if --gang-scheduling is set, but the API server does not serve Workloads and PodGroups in a
// version that suffices. Its text says what to do.
type NoGangsError struct {
	Server string // version of the server
	Asked  bool   // --gang-scheduling=asked, and the server has only the API of 1.36, where no Job can ask
}

func (e *NoGangsError) Error() string {
	if e.Asked {
		return fmt.Sprintf("--gang-scheduling=asked needs Kubernetes 1.37 with %s: the API server is %s, where no Job can ask for a gang. "+
			"Use --gang-scheduling=all, or leave the flag out", betaGangs, e.Server)
	}
	return fmt.Sprintf("--gang-scheduling needs Kubernetes 1.37 with the feature gate GenericWorkload and %s switched on, or 1.36 with that gate "+
		"and %s; the API server is %s and serves neither: switch them on, or leave --gang-scheduling out",
		betaGangs, v1alpha2.GroupVersion, e.Server)
}

// betaGangs is the version of Workloads and PodGroups that Kubernetes 1.37 has.
var betaGangs = schema.GroupVersion{Group: v1alpha2.GroupVersion.Group, Version: "v1beta1"}

// chooseGangs finds the API version in which to create Workloads and PodGroups. With --gang-scheduling it returns a
// NoGangsError if the server serves none; otherwise a Job that must start all of its pods or none would silently get
// plain pods. done is false if the server does not answer.
func (c *controller) chooseGangs() (done bool, err error) {
	if !c.settings.GangScheduling || c.observes() {
		return true, nil
	}
	client, err := c.cluster.Patient(askTimeout)
	if err != nil {
		return false, err
	}
	c.gangs = client.Discovery()
	rule, missing, err := gangRule(c.gangs, c.settings.Gangs)
	switch {
	case missing != nil:
		return false, missing
	case err == nil:
		c.settings.Gangs = rule
		return true, nil
	}
	c.logger.Warn("cannot see which Workloads and PodGroups the API server has", "error", err)
	return apierrors.IsForbidden(err), nil // if the right to ask is missing, assume the newest version
}

// awaitGangs calls chooseGangs every 5 seconds until the server answers.
func (c *controller) awaitGangs(ctx context.Context) error {
	for {
		if done, err := c.chooseGangs(); done || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(askTimeout):
		}
	}
}

// OtherGangsError ends a run because the API server was upgraded or downgraded, and serves the API of Workloads and
// PodGroups in another version than at the start. The next start uses the new version.
type OtherGangsError struct{ Before, Now schema.GroupVersion }

func (e *OtherGangsError) Error() string {
	return fmt.Sprintf("the API server makes gangs of %s now, and this run makes those of %s: stopping in good order, to be started again", e.Now, e.Before)
}

// gangsPause is the shortest time between two questions to the server which versions of the gang API it serves. Without
// it, each failed request of a Job that waits for its gang would cause a question.
const gangsPause = askTimeout

// gangsEvery is the time between questions to the server which versions of the gang API it serves, if no request fails.
// While no Job needs a gang, no request would show that the API is gone.
const gangsEvery = time.Minute

// watchGangs asks the server which version of the gang API (Workloads and PodGroups) it serves, each minute, and soon
// after a request found that none is served. It returns an OtherGangsError if the version has changed, and nil when ctx
// ends. While no version is served it continues to ask, and Jobs that need a gang wait.
func (c *controller) watchGangs(ctx context.Context) error {
	if c.gangs == nil {
		return nil
	}
	return otherGangs(ctx, c.settings.Gangs, c.unserved, func() (events.GangRule, bool) {
		rule, missing, err := gangRule(c.gangs, c.config.Settings.Gangs)
		return rule, missing == nil && err == nil
	})
}

// otherGangs returns an OtherGangsError as soon as ask returns another rule (way to make gangs) than before; nil when
// ctx ends. It asks each minute, and when unserved receives a value.
func otherGangs(ctx context.Context, before events.GangRule, unserved <-chan struct{}, ask func() (rule events.GangRule, known bool)) error {
	tick := time.NewTicker(gangsEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		case <-unserved:
		}
		if rule, known := ask(); known && rule != before {
			return &OtherGangsError{Before: gangVersion(before), Now: gangVersion(rule)}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(gangsPause):
		}
	}
}

// gangVersion returns the API version in which Workloads and PodGroups are created under this rule.
func gangVersion(r events.GangRule) schema.GroupVersion {
	if r.AsksBeta() {
		return betaGangs
	}
	return v1alpha2.GroupVersion
}

// gangRule returns the rule (the way to make gangs) for this server; asked is the one that the flag asks for. It
// returns a NoGangsError if the server does not serve the API that the rule needs.
func gangRule(server discovery.DiscoveryInterface, asked events.GangRule) (events.GangRule, *NoGangsError, error) {
	for _, version := range []schema.GroupVersion{betaGangs, v1alpha2.GroupVersion} {
		served, err := servesGangs(server, version)
		switch {
		case err != nil:
			return asked, nil, err
		case !served:
		case version == betaGangs:
			return asked, nil, nil
		case asked != events.GangsAsked:
			return events.GangsByShape, nil, nil
		default:
			return asked, &NoGangsError{Server: versionText(server), Asked: true}, nil
		}
	}
	return asked, &NoGangsError{Server: versionText(server)}, nil
}

func versionText(server discovery.DiscoveryInterface) string {
	info, err := server.ServerVersion()
	if err != nil {
		return "of an unknown version"
	}
	return info.GitVersion
}

// servesGangs reports whether the server serves PodGroups in that version of the API group. The group alone proves
// nothing, because it also contains PriorityClasses.
func servesGangs(server discovery.DiscoveryInterface, version schema.GroupVersion) (bool, error) {
	list, err := server.ServerResourcesForGroupVersion(version.String())
	switch {
	case apierrors.IsNotFound(err):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("ask for the resources of %s: %w", version, err)
	}
	for _, r := range list.APIResources {
		if r.Name == "podgroups" {
			return true, nil
		}
	}
	return false, nil
}

// clusterAPI is all that commands need of the cluster's API.
type clusterAPI interface {
	executor.API
	executor.GroupAPI
	executor.WorkloadAPI
	executor.CronAPI
}
