import assert from 'node:assert/strict'
import test from 'node:test'
import { countWords } from './index.js'

test('counts words in any case', () => {
  assert.deepEqual(countWords('The cat and the dog'), new Map(Object.entries({ the: 2, cat: 1, and: 1, dog: 1 })))
})
test('takes letters of any script for words', () => {
  assert.equal(countWords('Öl, öl: ÖL!').get('öl'), 3)
})
test('finds none where there is none', () => {
  assert.equal(countWords(' 1, 2 … ').size, 0)
})
