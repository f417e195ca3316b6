// Package retry says how long to wait before a call is repeated.
package retry

import (
	"context"
	"math/rand"
	"time"
)

const (
	first = 100 * time.Millisecond
	most  = 5 * time.Second
)

// Delay has jitter: 0.05 to 0.1 seconds before the first repetition, at most 5.
func Delay(failures int) time.Duration {
	delay := most
	if failures < 6 {
		delay = first << failures
	}
	return time.Duration(float64(delay) * (0.5 + rand.Float64()/2))
}

// Sleep reports false if the context ends first.
func Sleep(ctx context.Context, delay time.Duration) bool {
	timer := time.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
