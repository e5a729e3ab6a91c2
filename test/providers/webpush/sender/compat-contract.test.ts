/** The contract of every sender, kept towards push services by `node:http2`. */

import t from 'tap';
import { webPushContract } from '../../../support/web-push-contract.ts';

webPushContract(t, 'compat');
