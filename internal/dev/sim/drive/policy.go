package drive

import (
	"hash/fnv"

	"github.com/jobledger/jobledger/internal/dev/sim/apiserver"
)

// policy returns the faults of an admission policy that protects running pods. For some pods it denies the controller
// every deletion, and every patch until the pod has ended.
func (d *Driver) policy(c apiserver.Call) apiserver.Fault {
	if c.Kind != apiserver.Pods || (c.Verb != "delete" && c.Verb != "patch") {
		return apiserver.Fault{}
	}
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(c.UID))
	pod := d.World.Server.Pod(c.Namespace, c.Name)
	if pod == nil || float64(hash.Sum32()%1000) >= 1000*d.cfg.Protect || (c.Verb == "patch" && apiserver.PodTerminal(pod)) {
		return apiserver.Fault{}
	}
	return apiserver.Fault{Kind: apiserver.WebhookDenied}
}
