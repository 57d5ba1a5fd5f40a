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

// NoGangsError ends a run that is to make gangs on a server that does not have what it would make them of. Its text
// says what to do.
type NoGangsError struct {
	Server string // its version
	Asked  bool   // it has what Kubernetes 1.36 has, and no Job can ask for a gang there
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

// chooseGangs finds by which version of the API groups are made. A run with --gang-scheduling ends where the server has
// none of them: Jobs that are to start all their pods or none would get plain pods without a word. done is false where
// the server does not say.
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
	return apierrors.IsForbidden(err), nil // whoever may not ask has to do with the newest
}

// awaitGangs asks until the server says.
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

// OtherGangsError ends a run whose API server has other objects for gangs by now than at its start: it was upgraded, or
// set back. The next start makes those.
type OtherGangsError struct{ Before, Now schema.GroupVersion }

func (e *OtherGangsError) Error() string {
	return fmt.Sprintf("the API server makes gangs of %s now, and this run makes those of %s: stopping in good order, to be started again", e.Now, e.Before)
}

// gangsPause is how long the API server is not asked again for which gangs it serves after a request met none: each Job
// that is held meets none.
const gangsPause = askTimeout

// gangsEvery is how often it is asked in any case: while no Job asks for a group, no request meets that the objects are
// gone.
const gangsEvery = time.Minute

// watchGangs asks again by which version of the API groups are made, each minute, and soon after a request about one
// met that its API is not served. It ends with ctx, or with an OtherGangsError. While none is served it waits: Jobs
// that ask for a gang are held meanwhile.
func (c *controller) watchGangs(ctx context.Context) error {
	if c.gangs == nil {
		return nil
	}
	return otherGangs(ctx, c.settings.Gangs, c.unserved, func() (events.GangRule, bool) {
		rule, missing, err := gangRule(c.gangs, c.config.Settings.Gangs)
		return rule, missing == nil && err == nil
	})
}

// otherGangs ends when the rule that ask finds is another one than before.
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

// gangVersion is the version of the objects that a rule makes.
func gangVersion(r events.GangRule) schema.GroupVersion {
	if r.AsksBeta() {
		return betaGangs
	}
	return v1alpha2.GroupVersion
}

// gangRule is the rule by which groups are made on the server. asked is the one that the flag chose.
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

// servesGangs reports whether that version of the group is served, with PodGroups in it: PriorityClasses are of the
// group, too.
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

// clusterAPI is all that commands ask of a cluster.
type clusterAPI interface {
	executor.API
	executor.GroupAPI
	executor.WorkloadAPI
	executor.CronAPI
}
