import { REFUSAL_FRAGMENT } from '../../client-model/index.ts'
import { gql } from '../../documents/gql.ts'

export const UPDATE_LABELS = gql(`mutation UpdateLabels($input: UpdateLabelsInput!) {
  answer: updateLabels(input: $input) {
    __typename
    ... on UpdatedLabels { object { id kind name labels { key value } } }
    ...Refusal
  }
}\n${REFUSAL_FRAGMENT}`)
