// Command manifests writes the manifests of deploy/ from the Helm chart deploy/chart, with the values of each: the
// base, and what a feature needs on top. Its tests hold the overlays of deploy/overlays, which kustomize builds,
// against the chart with the values that stand beside each overlay.
//
// It is a module of its own: Helm and kustomize are large, and the product needs neither.
package main
