package events

// Sandbox is the state of the sandbox (network and namespaces) of a pod whose containers are not created yet.
type Sandbox uint8

// The states of a sandbox.
const (
	SandboxUnsaid         Sandbox = iota // nothing is reported, or the containers exist
	SandboxNone                          // none yet: volumes are mounted before it is created
	SandboxSeveral                       // several exist
	SandboxNotReady                      // one exists and is not ready
	SandboxNetworkChanged                // it has another network than the pod needs
	SandboxNoAddress                     // it has no IP address: the network plugin has not assigned one
	SandboxOther                         // another state; evidence holds the text
	SandboxReady                         // it is ready: images are pulled
)

var sandboxWords = [...]string{
	SandboxNone:           "no pod sandbox exists",
	SandboxSeveral:        "multiple pod sandboxes are ready and need to be reconciled",
	SandboxNotReady:       "pod sandbox is not ready",
	SandboxNetworkChanged: "network namespace mode changed and sandbox needs to be recreated",
	SandboxNoAddress:      "pod sandbox has no IP address",
	SandboxReady:          "",
}

// String returns the kubelet's message for the state; empty when it reports none, or another text.
func (s Sandbox) String() string {
	if int(s) >= len(sandboxWords) {
		return ""
	}
	return sandboxWords[s]
}

// SandboxOf returns the state for a kubelet's message about a sandbox that is not ready; SandboxOther for an unknown
// message.
func SandboxOf(message string) Sandbox {
	for s := SandboxNone; s < SandboxOther; s++ {
		if sandboxWords[s] == message {
			return s
		}
	}
	return SandboxOther
}
