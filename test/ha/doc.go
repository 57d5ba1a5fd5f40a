// Package ha runs several real controllers whose log is replicated, on a real API server and real NATS servers. While
// Jobs run, the leader is killed, or told to stop. Package ledger checks the objects of the API server. Each log is
// verified and replayed, and all logs must have the same beginning.
package ha
