// Package uninstall installs Jobledger from deploy/, runs Jobs, and uninstalls it by the commands of docs/uninstall.md,
// as they are written there. Nothing of it may be left. There is no kubectl and no container here: the test plays
// kubectl for these commands, and runs the binary as the StatefulSet says, as its ServiceAccount.
package uninstall
