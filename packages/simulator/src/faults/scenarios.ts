/**
 * The worst days of real providers, each by a name, with its changes of the behaviour. Several are
 * merged in the order in which they are named. The README says what each shows.
 */

import type { BehaviourPart } from './behaviour.ts';

interface Scenario {
  /** One line of help. */
  readonly about: string;
  readonly part: BehaviourPart;
}

/** Often enough to occur within some thousands of sends, rarely enough that these make progress. */
const REQUESTS_PER_CONNECTION = 1_000;
/** Less often: each costs a client the timeout of a whole connection, ten seconds and more. */
const REQUESTS_BEFORE_SILENCE = 5_000;

export const SCENARIOS = {
  'stream-limit': {
    about: 'one stream after each rejection, those in flight refused',
    // Each rejection costs its connection two round trips and all requests in flight.
    part: { streamsFall: true, shares: { badToken: 0.001 } },
  },
  'go-away': {
    about: 'GOAWAY with a reason; later requests refused',
    part: { ends: { goAway: REQUESTS_PER_CONNECTION } },
  },
  'go-away-twice': {
    about: 'GOAWAY that only warns, then the real one',
    part: { ends: { goAwayTwice: REQUESTS_PER_CONNECTION } },
  },
  'go-away-falling': {
    about: 'two GOAWAYs, the second names an earlier request',
    part: { ends: { goAwayFalling: REQUESTS_PER_CONNECTION } },
  },
  'go-away-unprocessed': {
    about: 'GOAWAY below requests that were never processed',
    part: { ends: { goAwayUnprocessed: REQUESTS_PER_CONNECTION } },
  },
  'go-away-error': {
    about: 'GOAWAY ENHANCE_YOUR_CALM or INTERNAL_ERROR, and close',
    part: {
      ends: { goAwayCalm: REQUESTS_PER_CONNECTION, goAwayInternal: REQUESTS_PER_CONNECTION },
    },
  },
  cut: {
    about: 'the socket closes without GOAWAY, accepted requests in flight',
    part: { ends: { cut: REQUESTS_PER_CONNECTION } },
  },
  'silent-socket': {
    about: 'a connection on which nothing is read or written any more',
    part: { ends: { silence: REQUESTS_BEFORE_SILENCE } },
  },
  'silent-stream': {
    about: 'requests never answered, half of them accepted',
    part: { silentShare: 0.001, lostAnswerShare: 0.001 },
  },
  'small-window': {
    about: 'a connection window of 64 KB, refilled by eighths',
    part: { windowOctets: 65_535 },
  },
  throttled: {
    about: '429 and 503, by FCM with Retry-After',
    part: { shares: { throttled: 0.02, serverError: 0.01 }, retryAfterSeconds: 2 },
  },
  'bad-gateway': {
    about: '502 with a page of HTML',
    part: { shares: { badGateway: 0.01 } },
  },
  'odd-refusal': {
    about: 'a good credential refused by one answer in a thousand',
    part: { shares: { badCredential: 0.001 } },
  },
  edge: {
    about: "the push service is Microsoft's, which has rules of its own for TTL",
    part: { isMicrosoft: true },
  },
  'clock-behind': {
    about: 'the clock of the providers ten minutes behind: tokens come from the future',
    part: { clockAheadMs: -600_000 },
  },
  'clock-ahead': {
    about: 'the clock of the providers two hours ahead: tokens are too old',
    part: { clockAheadMs: 7_200_000 },
  },
  'ping-rules': {
    about: 'PINGs after answers; a fourth PING of an idle client ends it',
    part: { pingsAfterAnswers: true, clientPingsMax: 3 },
  },
  'short-lives': {
    about: 'connections end after 3 s without a request, and after 15 s',
    part: { idleMsMax: 3_000, ageMsMax: 15_000 },
  },
  slow: {
    about: 'answers after 60 ms, one in a hundred after 400 ms or more',
    part: { latencySpread: { p50Ms: 60, p99Ms: 400, maxMs: 3_000 } },
  },
  far: {
    about: 'a round trip of 50 ms',
    part: { roundTripMs: 50 },
  },
  outage: {
    about: 'down for a minute: closed for 30 s, 503 for 30 s',
    part: { outage: { afterMs: 5_000, closedMs: 30_000, unavailableMs: 30_000 } },
  },
} as const satisfies Readonly<Record<string, Scenario>>;

export type ScenarioName = keyof typeof SCENARIOS;

export const SCENARIO_NAMES = Object.keys(SCENARIOS) as readonly ScenarioName[];

export function isScenarioName(name: string): name is ScenarioName {
  return Object.hasOwn(SCENARIOS, name);
}
