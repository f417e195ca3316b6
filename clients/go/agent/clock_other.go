//go:build !linux

package agent

import "time"

func clock() time.Duration { return time.Since(started) }
