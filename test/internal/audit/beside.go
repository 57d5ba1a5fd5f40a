package audit

// beside lists the kinds of writes that no recorded decision asks for, each with the reason.
var beside = map[kind]string{
	{"", "create", "events"}: "a Kubernetes Event tells people of records; no decision rests on it",
	{"", "patch", "events"}:  "a Kubernetes Event that is counted once more",

	{"coordination.k8s.io", "create", "leases"}: "the Lease says who runs, before a process has a record",
	{"coordination.k8s.io", "update", "leases"}: "the Lease is renewed",

	{"scheduling.k8s.io", "patch", "workloads"}: "the template of a PodGroup is changed before the PodGroup, by one command; that is the deed",

	{"authorization.k8s.io", "create", "selfsubjectaccessreviews"}: "a question after rights, which the API takes as a create; nothing is stored",
}
