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

// NoGangsError: --gang-scheduling is set, but the API server does not serve Workloads and PodGroups, or not in a
// version that suffices. Its text says what to do.
type NoGangsError struct {
	Server string // version of the server
	Asked  bool   // the server has the API of Kubernetes 1.36, where no Job can ask for a gang
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
// NoGangsError if the server serves none: Jobs that must start all their pods or none would silently get plain pods.
// done is false if the server does not answer.
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
	return apierrors.IsForbidden(err), nil // without the right to ask, the newest version is assumed
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

// OtherGangsError ends a run, because the API server now serves another version of the gang API than at the start: it
// was upgraded or downgraded. The next start uses the new version.
type OtherGangsError struct{ Before, Now schema.GroupVersion }

func (e *OtherGangsError) Error() string {
	return fmt.Sprintf("the API server makes gangs of %s now, and this run makes those of %s: stopping in good order, to be started again", e.Now, e.Before)
}

// gangsPause is the shortest time between two discovery requests for the gang API. Each waiting Job whose request fails
// asks for one.
const gangsPause = askTimeout

// gangsEvery is the time between discovery requests if no other request failed: while no Job asks for a gang, no
// request would notice that the API is gone.
const gangsEvery = time.Minute

// watchGangs asks the server each minute which version of the gang API it serves, and soon after a request found that
// it is not served. It returns nil when ctx ends, or an OtherGangsError. While no version is served it goes on asking:
// Jobs that need a gang wait in that time.
func (c *controller) watchGangs(ctx context.Context) error {
	if c.gangs == nil {
		return nil
	}
	return otherGangs(ctx, c.settings.Gangs, c.unserved, func() (events.GangRule, bool) {
		rule, missing, err := gangRule(c.gangs, c.config.Settings.Gangs)
		return rule, missing == nil && err == nil
	})
}

// otherGangs waits until ask returns a rule that needs another API version than before, and then returns an
// OtherGangsError; nil when ctx ends.
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

// gangVersion returns the API version of the objects that are created under this rule.
func gangVersion(r events.GangRule) schema.GroupVersion {
	if r.AsksBeta() {
		return betaGangs
	}
	return v1alpha2.GroupVersion
}

// gangRule returns the rule by which gangs are made on this server, given the rule that the flag asks for. It returns a
// NoGangsError if the server does not serve what the rule needs.
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

// clusterAPI is the part of the cluster's API that commands use.
type clusterAPI interface {
	executor.API
	executor.GroupAPI
	executor.WorkloadAPI
	executor.CronAPI
}
