// Package deployed reads the manifests of deploy/, for tests that install what a user would install.
package deployed
