/**
 * wrk, a load generator in C whose requests cost little: what is left of the machine is the
 * server's.
 */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Lifetime } from '../../test/support/lifetime.ts';
import { findProgram, runProgram } from '../../test/support/programs.ts';
import type { Kind, Load, Round, Seen, Target } from './load.ts';
import {
  CHANGED_PERCENT,
  KNOWN_DEVICES,
  knownPrefix,
  UNCHANGED_PERCENT,
  UNCHANGING_DEVICES,
} from './load.ts';

/** Null when it is not installed. */
export function findWrk(stage: Lifetime): Load | null {
  const program = findProgram('wrk');
  if (program === null) {
    console.log('(wrk is not installed: autocannon only)');
    return null;
  }
  return { name: 'wrk', run: (target, round) => run(stage, program, target, round) };
}

async function run(stage: Lifetime, program: string, target: Target, round: Round): Promise<Seen> {
  const directory = mkdtempSync(join(tmpdir(), 'tagcast-'));
  try {
    const script = join(directory, 'register.lua');
    writeFileSync(script, scriptFor(target, round));
    const { connections, seconds } = round;
    const load = ['-t1', `-c${connections}`, `-d${seconds}s`, '--timeout', '10s'];
    const { code, out, err } = await runProgram(stage, program, [
      ...load,
      '-s',
      script,
      target.baseUrl,
    ]);
    const last = out.toString().trimEnd().split('\n').at(-1);
    if (code !== 0 || last === undefined) throw new Error(`wrk failed: ${err}`);
    return JSON.parse(last) as Seen;
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

const LUA_FUNCTIONS: Readonly<Record<Kind, string>> = {
  new: 'fresh',
  repeated: 'repeated',
  mix: 'mixed',
};

/**
 * The same requests as autocannon's. One thread, so that the rotations of the known devices are in
 * one place.
 */
const scriptFor = ({ appId, platformId, tagIds, token }: Target, { kind, tags }: Round): string => `
local tags = {${tagIds.join(', ')}}
local headers = { ['Authorization'] = 'Bearer ${token}', ['Content-Type'] = 'application/json' }
local rotations = {}
local random, format = math.random, string.format
math.randomseed(os.time() + ${Math.floor(Math.random() * 1e9)})

local function tagsFrom(rotation)
  local list = {}
  for place = 1, ${tags} do list[place] = tags[(place - 1 + rotation) % #tags + 1] end
  return table.concat(list, ',')
end
local lists = {}
for rotation = 0, #tags - 1 do lists[rotation] = tagsFrom(rotation) end
local prefix = string.rep('${knownPrefix(tags)}', 32)

local function post(path, device, rotation)
  return wrk.format('POST', path, headers, format(
    '{"appId":${appId},"platformId":${platformId},"tagId":[%s],"deviceId":"%s"}', lists[rotation], device))
end

local function word() return random(0, 0x7fffffff) end

local function fresh()
  return post('/push-api/reg', format('%08x%08x%08x%08x%08x%08x%08x%08x',
    word(), word(), word(), word(), word(), word(), word(), word()), 0)
end

local function known(number)
  return prefix:sub(1, 56) .. format('%08x', number)
end

local function some(percent)
  if percent >= ${UNCHANGED_PERCENT + CHANGED_PERCENT} then return fresh() end
  if percent < ${UNCHANGED_PERCENT} then
    return post('/push-api/reg', known(random(0, ${UNCHANGING_DEVICES - 1})), 0)
  end
  local number = random(${UNCHANGING_DEVICES}, ${KNOWN_DEVICES - 1})
  local rotation = ((rotations[number] or random(0, #tags - 1)) + 1) % #tags
  rotations[number] = rotation
  return post('/push-api/set', known(number), rotation)
end

local function mixed() return some(random() * 100) end
local function repeated() return some(0) end

request = ${LUA_FUNCTIONS[kind]}

function done(summary, latency)
  local errors = summary.errors
  local failed = errors.connect + errors.read + errors.write + errors.timeout
  print(format('{"perSecond":%f,"answered":%d,"p50Ms":%f,"p99Ms":%f,"failures":%d,"resumedShare":null}',
    (summary.requests - errors.status) / summary.duration * 1e6, summary.requests - errors.status,
    latency:percentile(50) / 1000, latency:percentile(99) / 1000, failed + errors.status))
end
`;
