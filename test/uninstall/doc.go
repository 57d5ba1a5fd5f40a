// Package uninstall installs Jobledger from deploy/, runs Jobs, and uninstalls it by the commands of docs/uninstall.md,
// as they are written there. Nothing of Jobledger may be left in the cluster. The test uses neither kubectl nor
// containers: it carries out these commands itself, and runs the program as the StatefulSet says, as its
// ServiceAccount.
package uninstall
