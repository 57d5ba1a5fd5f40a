// Command manifests writes the manifests of deploy/ from the Helm chart deploy/chart: the base, and the objects that
// each feature adds. Its tests compare the overlays of deploy/overlays, as kustomize builds them, with the chart and
// the values in each overlay's directory.
//
// It is a module of its own: Helm and kustomize are large, and the product needs neither.
package main
