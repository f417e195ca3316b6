package agent

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/phaseline/phaseline/clients/go/client"
	"github.com/phaseline/phaseline/clients/go/internal/retry"
)

type queued[E, R any] struct {
	entry E
	// Closed without an answer if the entry is given up.
	answer   chan R
	refusals int
}

// A batcher sends entries in few calls: an entry that is added during a call joins the next one. A call without an answer is repeated
// until it gets one. When the server cannot process a batch, its entries are sent one by one, and one that is refused too often is given
// up. Others go before one that was refused, unless they are ordered.
type batcher[E, R any] struct {
	send func(ctx context.Context, entries []E) ([]R, error)
	max  int
	// The most refusals of an entry, and of one that may succeed later.
	final, retryable int
	ordered          bool
	onProblem        func(err error)

	mu    sync.Mutex
	queue []*queued[E, R]
	added chan struct{}
}

func (b *batcher[E, R]) add(entry E) <-chan R {
	one := &queued[E, R]{entry: entry, answer: make(chan R, 1)}
	b.mu.Lock()
	b.queue = append(b.queue, one)
	b.mu.Unlock()
	select {
	case b.added <- struct{}{}:
	default:
	}
	return one.answer
}

func (b *batcher[E, R]) size() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.queue)
}

func (b *batcher[E, R]) run(ctx context.Context) {
	for failures := 0; ctx.Err() == nil; {
		batch := b.take()
		if len(batch) == 0 {
			await(ctx, b.added)
			continue
		}
		entries := make([]E, len(batch))
		for i, one := range batch {
			entries[i] = one.entry
		}
		answers, err := b.send(ctx, entries)
		if err == nil && len(answers) != len(batch) {
			err = fmt.Errorf("%d entries have %d answers", len(batch), len(answers))
		}
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			b.onProblem(err)
			b.putBack(batch, err)
			retry.Sleep(ctx, retryDelay(failures, err))
			failures++
			continue
		}
		failures = 0
		for i, one := range batch {
			one.answer <- answers[i]
			close(one.answer)
		}
	}
}

func (b *batcher[E, R]) take() []*queued[E, R] {
	b.mu.Lock()
	defer b.mu.Unlock()
	size := 0
	// One that was refused goes alone: any entry of a batch may be the reason.
	for size < len(b.queue) && size < b.max && (size == 0 || b.queue[0].refusals == 0 && b.queue[size].refusals == 0) {
		size++
	}
	batch := b.queue[:size:size]
	b.queue = b.queue[size:]
	return batch
}

func (b *batcher[E, R]) putBack(batch []*queued[E, R], err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	var refusal *client.Error
	isAnswered := errors.As(err, &refusal)
	// A call that was lost, or came too early, says nothing against its entries.
	if isAnswered && refusal.Code != "BUSY" && (refusal.Kind == client.KindNetwork || refusal.RetryAfter > 0) {
		b.queue = append(batch, b.queue...)
		return
	}
	most := b.retryable
	if isAnswered && !refusal.Retryable {
		most = b.final
	}
	var again []*queued[E, R]
	for _, one := range batch {
		if one.refusals++; one.refusals < most {
			again = append(again, one)
		} else {
			close(one.answer)
		}
	}
	if b.ordered {
		b.queue = append(again, b.queue...)
	} else {
		b.queue = append(b.queue, again...)
	}
}

// The next value of a channel; false if it is closed, or the context ends first.
func await[T any](ctx context.Context, from <-chan T) (T, bool) {
	select {
	case value, ok := <-from:
		return value, ok
	case <-ctx.Done():
		var none T
		return none, false
	}
}

func retryDelay(failures int, err error) time.Duration {
	delay := retry.Delay(failures)
	var refusal *client.Error
	if errors.As(err, &refusal) {
		delay += refusal.RetryAfter
	}
	return delay
}
