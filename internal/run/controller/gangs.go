package controller

import (
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"

	"github.com/jobledger/jobledger/internal/wire/v1alpha2"
)

// NoGangsError ends a run that is to make gangs on a server that does not have what it would make them of. Its text says what to do.
type NoGangsError struct {
	Server string // its version
	Newer  string // a version of the objects that it serves and that this program does not make; empty for none
}

func (e *NoGangsError) Error() string {
	if e.Newer != "" {
		return fmt.Sprintf("--gang-scheduling: the API server is %s and serves %s. No gangs are made yet with that: this version of jobledger "+
			"needs %s, which only Kubernetes 1.36 serves. Leave --gang-scheduling out, or look for a newer jobledger",
			e.Server, e.Newer, v1alpha2.GroupVersion)
	}
	return fmt.Sprintf("--gang-scheduling needs Kubernetes 1.36 with the feature gate GenericWorkload and %s switched on; the API server is %s and "+
		"does not serve it: switch them on, or leave --gang-scheduling out", v1alpha2.GroupVersion, e.Server)
}

// newerGangs are the versions of Workloads and PodGroups that came after ours, the newest first.
var newerGangs = []string{"v1", "v1beta2", "v1beta1"}

// refuseGangs ends a run with --gang-scheduling where the server has no Workloads and PodGroups of 1.36: Jobs that are to start all
// their pods or none would get plain pods without a word. A server that does not answer, or that does not let us ask, does not end it.
func (c *controller) refuseGangs() error {
	if !c.settings.GangScheduling || c.observes() {
		return nil
	}
	client, err := c.cluster.Patient(askTimeout)
	if err != nil {
		return err
	}
	missing, err := gangsMissing(client.Discovery())
	if err != nil {
		c.logger.Warn("cannot see whether the API server has Workloads and PodGroups, and goes on", "error", err)
		return nil
	}
	if missing != nil {
		return missing
	}
	return nil
}

// gangsMissing looks for the objects on the server; nil when it has them.
func gangsMissing(server discovery.DiscoveryInterface) (*NoGangsError, error) {
	if served, err := servesGangs(server, v1alpha2.GroupVersion); err != nil || served {
		return nil, err
	}
	missing := &NoGangsError{Server: "of an unknown version"}
	if info, err := server.ServerVersion(); err == nil {
		missing.Server = info.GitVersion
	}
	for _, version := range newerGangs {
		newer := schema.GroupVersion{Group: v1alpha2.GroupVersion.Group, Version: version}
		if served, err := servesGangs(server, newer); err == nil && served {
			missing.Newer = newer.String()
			break
		}
	}
	return missing, nil
}

// servesGangs reports whether that version of the group is served, with PodGroups in it: PriorityClasses are of the group, too.
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
