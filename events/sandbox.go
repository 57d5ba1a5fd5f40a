package events

// Sandbox is how far the kubelet is with the sandbox of a pod whose containers are not made so far.
type Sandbox uint8

// The states of a sandbox.
const (
	SandboxUnsaid         Sandbox = iota // nothing is said, or its containers are made
	SandboxNone                          // there is none so far: volumes are mounted before it is made
	SandboxSeveral                       // there are several
	SandboxNotReady                      // there is one that is not ready
	SandboxNetworkChanged                // it has another network than the pod is to have
	SandboxNoAddress                     // it has no IP address: the network plugin
	SandboxOther                         // something else, in words that are evidence
	SandboxReady                         // it is there: images are pulled
)

var sandboxWords = [...]string{
	SandboxNone:           "no pod sandbox exists",
	SandboxSeveral:        "multiple pod sandboxes are ready and need to be reconciled",
	SandboxNotReady:       "pod sandbox is not ready",
	SandboxNetworkChanged: "network namespace mode changed and sandbox needs to be recreated",
	SandboxNoAddress:      "pod sandbox has no IP address",
	SandboxReady:          "",
}

// String is what a kubelet says of it; empty where it says nothing, or other words.
func (s Sandbox) String() string {
	if int(s) >= len(sandboxWords) {
		return ""
	}
	return sandboxWords[s]
}

// SandboxOf is the state that a kubelet means that says those words of a sandbox which is not ready.
func SandboxOf(message string) Sandbox {
	for s := SandboxNone; s < SandboxOther; s++ {
		if sandboxWords[s] == message {
			return s
		}
	}
	return SandboxOther
}
