// Sentences of gpsd's test/sample.aivdm, one message of every type, and what they say.

enum AISSamples {
    static let all: [(sentences: [String], value: String)] = [
        (
            [#"!AIVDM,1,1,,A,15RTgt0PAso;90TKcjM8h6g208CQ,0*4A"#],
            #"{"type":1,"repeat":0,"mmsi":371798000,"channel":"A","status":"under_way","turn_deg_min":null,"tu"#
                + #"rning":"fast_left","speed_kn":12.3,"accurate":true,"longitude_deg":-123.3953833,"latitude_deg":4"#
                + #"8.3816333,"course_deg":224,"heading_deg":215,"second":33,"maneuver":"unknown","raim":false,"radi"#
                + #"o":34017}"#
        ),
        (
            [#"!AIVDM,1,1,,B,25Cjtd0Oj;Jp7ilG7=UkKBoB0<06,0*60"#],
            #"{"type":2,"repeat":0,"mmsi":356302000,"channel":"B","status":"under_way","turn_deg_min":null,"tu"#
                + #"rning":"fast_right","speed_kn":13.9,"accurate":false,"longitude_deg":-71.6261433,"latitude_deg":"#
                + #"40.3923583,"course_deg":87.7,"heading_deg":91,"second":41,"maneuver":"unknown","raim":false,"rad"#
                + #"io":49158}"#
        ),
        (
            [#"!AIVDM,1,1,,A,38Id705000rRVJhE7cl9n;160000,0*40"#],
            #"{"type":3,"repeat":0,"mmsi":563808000,"channel":"A","status":"moored","turn_deg_min":0,"speed_kn"#
                + #"":0,"accurate":true,"longitude_deg":-76.3275333,"latitude_deg":36.91,"course_deg":252,"heading_d"#
                + #"eg":352,"second":35,"maneuver":"unknown","raim":false,"radio":0}"#
        ),
        (
            [#"!AIVDM,1,1,,A,403OviQuMGCqWrRO9>E6fE700@GO,0*4D"#],
            #"{"type":4,"repeat":0,"mmsi":3669702,"channel":"A","time":"2007-05-14T19:57:39Z","accurate":true,"#
                + #""longitude_deg":-76.3523617,"latitude_deg":36.8837667,"receiver":"surveyed","raim":false,"radio""#
                + #":67039}"#
        ),
        (
            [
                #"!AIVDM,2,1,1,A,55?MbV02;H;s<HtKR20EHE:0@T4@Dn2222222216L961O5Gf0NSQEp6ClRp8,0*1C"#,
                #"!AIVDM,2,2,1,A,88888888880,2*25"#,
            ],
            #"{"type":5,"repeat":0,"mmsi":351759000,"channel":"A","ais_version":0,"imo":9134270,"callsign":"3F"#
                + #"OF8","name":"EVER DIADEM","ship_type":70,"ship_kind":"cargo","to_bow_m":225,"to_stern_m":70,"to_"#
                + #"port_m":1,"to_starboard_m":31,"receiver":"gps","eta":"05-15T14:00Z","draught_m":12.2,"destinatio"#
                + #"n":"NEW YORK","terminal_ready":true}"#
        ),
        (
            [#"!AIVDM,1,1,,B,6B?n;be:cbapalgc;i6?Ow4,2*4A"#],
            #"{"type":6,"repeat":1,"mmsi":150834090,"channel":"B","sequence":3,"destination_mmsi":313240222,"r"#
                + #"etransmitted":false,"area_code":669,"function_id":11,"data":"eb2f118f7ff1"}"#
        ),
        (
            [#"!AIVDM,1,1,,A,702R5`hwCjq8,0*6B"#],
            #"{"type":7,"repeat":0,"mmsi":2655651,"channel":"A","destination_mmsi":265538450,"sequence":0}"#
        ),
        (
            [#"!AIVDM,1,1,,A,85Mwp`1Kf3aCnsNvBWLi=wQuNhA5t43N`5nCuI=p<IBfVqnMgPGs,0*47"#],
            #"{"type":8,"repeat":0,"mmsi":366999712,"channel":"A","area_code":366,"function_id":56,"data":"3a5"#
                + #"3dbb7be4a773137f87d7b0445f040dea05d93f593783194ae9b9d9dbe05fb"}"#
        ),
        (
            [#"!AIVDM,1,1,,A,91b77=h3h00nHt0Q3r@@07000<0b,0*69"#],
            #"{"type":9,"repeat":0,"mmsi":111265591,"channel":"A","altitude_m":15,"speed_kn":0,"accurate":fals"#
                + #"e,"longitude_deg":11.8816,"latitude_deg":57.778455,"course_deg":0,"second":28,"terminal_ready":t"#
                + #"rue,"assigned":false,"raim":false,"radio":49194}"#
        ),
        (
            [#"!AIVDM,1,1,,B,:5MlU41GMK6@,0*6C"#],
            #"{"type":10,"repeat":0,"mmsi":366814480,"channel":"B","destination_mmsi":366832740}"#
        ),
        (
            [#"!AIVDM,1,1,,A,<02:oP0kKcv0@<51C5PB5@?BDPD?P:?2?EB7PDB16693P381>>5<PikP,0*37"#],
            #"{"type":12,"repeat":0,"mmsi":2275200,"channel":"A","sequence":0,"destination_mmsi":215724000,"re"#
                + #"transmitted":false,"text":"PLEASE REPORT TO JOBOURG TRAFFIC CHANNEL 13"}"#
        ),
        (
            [#"!AIVDM,1,1,,A,=39UOj0jFs9R,0*65"#],
            #"{"type":13,"repeat":0,"mmsi":211378120,"channel":"A","destination_mmsi":211217560,"sequence":2}"#
        ),
        (
            [#"!AIVDM,1,1,,A,>5?Per18=HB1U:1@E=B0m<L,2*51"#],
            #"{"type":14,"repeat":0,"mmsi":351809000,"channel":"A","text":"RCVD YR TEST MSG"}"#
        ),
        (
            [#"!AIVDM,1,1,,A,?5OP=l00052HD00,2*5B"#],
            #"{"type":15,"repeat":0,"mmsi":368578000,"channel":"A","destination_mmsi":5158,"asked_type":5,"slo"#
                + #"t_offset":0}"#
        ),
        (
            [#"!AIVDM,1,1,,A,@01uEO@mMk7P<P00,0*18"#],
            #"{"type":16,"repeat":0,"mmsi":2053501,"channel":"A","destination_mmsi":224251000,"offset":200,"in"#
                + #"crement":0}"#
        ),
        (
            [
                #"!AIVDM,2,1,5,A,A02VqLPA4I6C07h5Ed1h<OrsuBTTwS?r:C?w`?la<gno1RTRwSP9:BcurA8a,0*3A"#,
                #"!AIVDM,2,2,5,A,:Oko02TSwu8<:Jbb,0*11"#,
            ],
            #"{"type":17,"repeat":0,"mmsi":2734450,"channel":"A","longitude_deg":29.13,"latitude_deg":59.9867,"#
                + #""data":"7c0556c07031febbf52924fe33fa2933ffa0fd2932fdb7062922fe3809292afde9122929fcf7002923ffd20c"#
                + #"29aaaa"}"#
        ),
        (
            [#"!AIVDM,1,1,,A,B52K>;h00Fc>jpUlNV@ikwpUoP06,0*4C"#],
            #"{"type":18,"repeat":0,"mmsi":338087471,"channel":"A","speed_kn":0.1,"accurate":false,"longitude_"#
                + #"deg":-74.0721317,"latitude_deg":40.68454,"course_deg":79.6,"heading_deg":null,"second":49,"carri"#
                + #"er_sense":true,"display":false,"dsc":true,"whole_band":true,"channel_control":true,"assigned":fa"#
                + #"lse,"raim":true,"radio":917510}"#
        ),
        (
            [#"!AIVDM,1,1,,B,C5N3SRgPEnJGEBT>NhWAwwo862PaLELTBJ:V00000000S0D:R220,0*0B"#],
            #"{"type":19,"repeat":0,"mmsi":367059850,"channel":"B","speed_kn":8.7,"accurate":false,"longitude_"#
                + #"deg":-88.8103917,"latitude_deg":29.543695,"course_deg":335.9,"heading_deg":null,"second":46,"nam"#
                + #"e":"CAPT.J.RIMES","ship_type":70,"ship_kind":"cargo","to_bow_m":5,"to_stern_m":21,"to_port_m":4,"#
                + #""to_starboard_m":4,"receiver":"gps","raim":false,"terminal_ready":true,"assigned":false}"#
        ),
        (
            [#"!AIVDM,1,1,,A,Dh3OvjB8IN>4,0*1D"#],
            #"{"type":20,"repeat":3,"mmsi":3669705,"channel":"A","offset":2182,"slots":5,"timeout_min":7,"incr"#
                + #"ement":225}"#
        ),
        (
            [
                #"!AIVDM,2,1,5,B,E1mg=5J1T4W0h97aRh6ba84<h2d;W:Te=eLvH50```q,0*46"#,
                #"!AIVDM,2,2,5,B,:D44QDlp0C1DU00,2*36"#,
            ],
            #"{"type":21,"repeat":0,"mmsi":123456789,"channel":"B","aid_type":20,"aid_kind":"cardinal_north",""#
                + #"name":"CHINA ROSE MURPHY EX","accurate":false,"longitude_deg":-122.6985917,"latitude_deg":47.920"#
                + #"6183,"to_bow_m":5,"to_stern_m":5,"to_port_m":5,"to_starboard_m":5,"receiver":"gps","second":50,""#
                + #"off_position":false,"raim":false,"virtual":false,"assigned":false,"name_extension":"PRESS ALERT""#
                + #"}"#
        ),
        (
            [#"!AIVDM,1,1,,A,F030ot22N2P6aoQbhe4736L20000,0*1A"#],
            #"{"type":22,"repeat":0,"mmsi":3160048,"channel":"A","channel_a":2087,"channel_b":2088,"transmit_r"#
                + #"eceive":0,"low_power":false,"northeast_longitude_deg":-73.5,"northeast_latitude_deg":45.55,"sout"#
                + #"hwest_longitude_deg":-80.1667,"southwest_latitude_deg":42.3333,"addressed":false,"narrow_a":fals"#
                + #"e,"narrow_b":false,"zone_size_nmi":4}"#
        ),
        (
            [#"!AIVDM,1,1,,B,G02:Kn01R`sn@291nj600000900,2*12"#],
            #"{"type":23,"repeat":0,"mmsi":2268120,"channel":"B","northeast_longitude_deg":2.63,"northeast_lat"#
                + #"itude_deg":51.07,"southwest_longitude_deg":1.8267,"southwest_latitude_deg":50.68,"station_type":"#
                + #"6,"ship_type":0,"ship_kind":null,"transmit_receive":0,"interval":9,"quiet_min":0}"#
        ),
        (
            [#"!AIVDM,1,1,,A,H42O55i18tMET00000000000000,2*6D"#],
            #"{"type":24,"repeat":0,"mmsi":271041815,"channel":"A","part":"a","name":"PROGUY"}"#
        ),
        (
            [#"!AIVDM,1,1,,A,H42O55lti4hhhilD3nink000?050,0*40"#],
            #"{"type":24,"repeat":0,"mmsi":271041815,"channel":"A","part":"b","ship_type":60,"ship_kind":"pass"#
                + #"enger","vendor":"1D0","unit_model":12,"serial":199796,"callsign":"TC6163","to_bow_m":0,"to_stern"#
                + #"_m":15,"to_port_m":0,"to_starboard_m":5}"#
        ),
        (
            [#"!AIVDM,1,1,,A,JB3R0GO7p>vQL8tjw0b5hqpd0706kh9d3lR2vbl0400,2*40"#],
            #"{"type":26,"repeat":1,"mmsi":137920605,"channel":"A","destination_mmsi":838351848,"application_i"#
                + #"d":23587,"data":"ccbf02a170e78b001c01b3c09b03d220beab40","radio":4096}"#
        ),
        (
            [#"!AIVDM,1,1,,A,I6SWo?8P00a3PKpEKEVj0?vNP<65,0*73"#],
            #"{"type":25,"repeat":0,"mmsi":440006460,"channel":"A","destination_mmsi":134218384,"data":"e06f85"#
                + #"5b566c803fe7a0306140"}"#
        ),
        (
            [#"!AIVDM,1,1,,A,KCQ9r=hrFUnH7P00,0*41"#],
            #"{"type":27,"repeat":1,"mmsi":236091959,"channel":"A","accurate":false,"raim":false,"status":"res"#
                + #"tricted","longitude_deg":-154.2017,"latitude_deg":87.065,"speed_kn":0,"course_deg":0,"current":t"#
                + #"rue}"#
        ),
        (
            [#"!AIVDM,1,1,,B,;4R33:1uUK2F`q?mOt@@GoQ00000,0*5D,s28089,d-103,T39.44353985,x147521,r08TPHI1,1242958962"#],
            #"{"type":11,"repeat":0,"mmsi":304137000,"channel":"B","time":"2009-05-22T02:22:40Z","accurate":tr"#
                + #"ue,"longitude_deg":-94.4076833,"latitude_deg":28.4091167,"receiver":"gps","raim":false,"radio":0"#
                + #"}"#
        ),
    ]
}
